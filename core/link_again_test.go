package core_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// meddled is a store with transactions that let another request act in the middle of one.
type meddled struct {
	least
	store.UserDeleter
	store.AccountStore
	store.SessionLister
	people *people
	// undone is called after what the first transaction does, which is undone then: as an engine does that finds out at
	// the commit.
	undone func()
}

func (m *meddled) InTransaction(ctx context.Context, do func(context.Context, core.Store) error) error {
	before := m.people.copy()
	if err := do(ctx, m); err != nil || m.undone == nil {
		return err
	}
	m.people.rows = before
	undone := m.undone
	m.undone = nil
	undone()
	return core.ErrConflict
}

// TestSameVisitorTwice: a person who signs in for the first time on two devices at once is let in on both, as one user,
// wherever the other sign-in comes in between.
func TestSameVisitorTwice(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for name, between := range map[string]string{
			"before the account is looked up": "UserByAccount", "before the address is": "UserByEmail",
			"before the user is made": "CreateUser", "at the commit": "",
		} {
			t.Run(string(strategy)+", "+name, func(t *testing.T) {
				t.Parallel()
				var w *town
				m := &meddled{}
				w = newTown(t, power{true, true, true, true}, strategy, func(c *core.Config) { c.Store = m })
				m.least, m.UserDeleter, m.AccountStore, m.SessionLister, m.people = w, w, w, w, w.people
				first, second := w.browser(), w.browser()
				var other string
				meanwhile := func() { other = w.signedIn(second, w.through(second, "plain", "s1", victim, "")) }
				if between == "" {
					m.undone = meanwhile
				}
				w.at = func(method string) {
					if method == between {
						w.at = nil
						meanwhile()
					}
				}
				if id := w.signedIn(first, w.through(first, "plain", "s1", victim, "")); id != other || other == "" {
					t.Errorf("two users: %q and %q", id, other)
				}
				if len(w.users) != 1 || len(w.accounts) != 1 {
					t.Errorf("%d users, %d accounts", len(w.users), len(w.accounts))
				}
			})
		}
	}
}

// TestVisitorBeingMade: on a store without transactions a sign-in finds the user whom another one has made, and not yet
// the account, which that one links then.
func TestVisitorBeingMade(t *testing.T) {
	t.Parallel()
	w := newTown(t, power{false, true, true, true}, core.StrategyDatabase)
	first, second := w.browser(), w.browser()
	var once, seen sync.Once
	var other sync.WaitGroup
	looked := make(chan struct{})
	w.at = func(method string) {
		if method == "Accounts" { // the second one, which looks whether the user is being made
			seen.Do(func() { close(looked) })
		}
		if method == "LinkAccount" {
			once.Do(func() {
				other.Go(func() { w.through(second, "plain", "s1", victim, "") })
				<-looked
			})
		}
	}
	id := w.signedIn(first, w.through(first, "plain", "s1", victim, ""))
	other.Wait()
	if got := w.who(second); got != id {
		t.Errorf("two users: %q and %q", id, got)
	}
}

// TestRefusalsStay: an account that is nobody's, and an address that somebody has, is refused as before.
func TestRefusalsStay(t *testing.T) {
	t.Parallel()
	for _, can := range powers() {
		synctest.Test(t, func(t *testing.T) {
			w := newTown(t, can, core.StrategyDatabase)
			b := w.browser()
			w.made(b) // without an account: it may be one that is being made
			stranger := w.browser()
			if r := w.through(stranger, "plain", "s1", victim, ""); r.Err == nil || w.who(stranger) != "" {
				t.Errorf("%s: a stranger got in: %v", can, r.Err)
			}
		})
	}
}
