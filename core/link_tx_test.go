package core_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// meddled is a store with transactions that lets another request act during a transaction.
type meddled struct {
	least
	store.UserDeleter
	store.AccountStore
	store.SessionLister
	people *people
	// undone is called after the first transaction has done its work, which is then rolled back, as a database does that
	// detects a conflict at the commit.
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

// TestSameUserTwice signs one person in for the first time on two devices concurrently. Both succeed as one user,
// wherever the second sign-in interrupts the first.
func TestSameUserTwice(t *testing.T) {
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

// TestUserBeingCreated covers a store without transactions: a sign-in finds the user whom a concurrent one has created,
// before that one has linked the account.
func TestUserBeingCreated(t *testing.T) {
	t.Parallel()
	w := newTown(t, power{false, true, true, true}, core.StrategyDatabase)
	first, second := w.browser(), w.browser()
	var once, seen sync.Once
	var other sync.WaitGroup
	looked := make(chan struct{})
	w.at = func(method string) {
		if method == "Accounts" { // the second call, which checks whether the user is being created
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

// TestRefusalsStay checks that a new account with an address that another user has is still refused.
func TestRefusalsStay(t *testing.T) {
	t.Parallel()
	for _, can := range powers() {
		synctest.Test(t, func(t *testing.T) {
			w := newTown(t, can, core.StrategyDatabase)
			b := w.browser()
			w.made(b) // without an account: it may be about to be linked
			stranger := w.browser()
			if r := w.through(stranger, "plain", "s1", victim, ""); r.Err == nil || w.who(stranger) != "" {
				t.Errorf("%s: the attacker is signed in: %v", can, r.Err)
			}
		})
	}
}

// losing is a store that has lost the index entry of one account, and still lists the account for its user.
type losing struct {
	least
	store.UserDeleter
	store.AccountStore
	store.SessionLister
	lost string // provider/id
}

func (l *losing) UserByAccount(ctx context.Context, provider, id string) (*core.User, error) {
	if provider+"/"+id == l.lost {
		return nil, core.ErrNotFound
	}
	return l.least.UserByAccount(ctx, provider, id)
}

func (l *losing) LinkAccount(ctx context.Context, a *core.Account) error {
	if a.Provider+"/"+a.ProviderAccountID == l.lost {
		l.lost = ""
		return nil
	}
	return l.least.LinkAccount(ctx, a)
}

// TestLostAccount checks that the owner of an account whose index entry was lost can sign in again, and that a similar
// account cannot.
func TestLostAccount(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, provider, sub, claims string
		in                          bool
	}{
		{"the account itself", "plain", "s1", "", true},
		{"another account of the provider", "plain", "s2", "", false},
		{"the same name at another provider", "vouching", "s1", `,"email_verified":false`, false},
		{"neither", "vouching", "s2", `,"email_verified":false`, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &losing{}
				w := newTown(t, power{}, core.StrategyDatabase, func(c *core.Config) { c.Store = l })
				l.least, l.UserDeleter, l.AccountStore, l.SessionLister = w, w, w, w
				owner := w.browser()
				id := w.signedIn(owner, w.through(owner, "plain", "s1", victim, ""))
				l.lost = "plain/s1"
				b := w.browser()
				r := w.through(b, row.provider, row.sub, victim, row.claims)
				if got := w.who(b); (got == id) != row.in || !row.in && (got != "" || r.Err == nil) {
					t.Errorf("signed in as %q, want in: %v; the user is %q: %v", got, row.in, id, r.Err)
				}
				if healed := l.lost == ""; healed != row.in {
					t.Errorf("the account is linked again: %v, want %v", healed, row.in)
				}
			})
		})
	}
}

// TestMailIsNoAccount checks that an account whose provider ID looks like an email link is an unvouched sign-in method
// like any other, so that the first verification of the address creates a new user.
func TestMailIsNoAccount(t *testing.T) {
	t.Parallel()
	w := newTown(t, power{true, true, true, true}, core.StrategyDatabase)
	id := w.made(w.browser())
	w.accounts["email/"+victim] = core.Account{UserID: id, Provider: "email", ProviderAccountID: victim}
	b := w.browser()
	if got := w.signedIn(b, w.byMail(b, victim)); got == id {
		t.Error("the owner of the address shares a user with the attacker")
	}
}

// TestRefusalsTakeNoTime checks that a sign-in does not wait for an account if the user has verified the address, or
// already has another account: then no concurrent sign-in can be creating them.
func TestRefusalsTakeNoTime(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(w *town, b *browser){
		"a verified address": func(w *town, b *browser) { w.signedIn(b, w.byMail(b, victim)) },
		"another account":    func(w *town, b *browser) { w.signedIn(b, w.through(b, "plain", "s9", victim, "")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newTown(t, power{false, true, true, true}, core.StrategyDatabase)
				before(w, w.browser())
				asked := 0
				w.at = func(method string) {
					if method == "UserByEmail" {
						asked++
					}
				}
				begun := time.Now()
				b := w.browser()
				if r := w.through(b, "plain", "s1", victim, ""); r.Err == nil || w.who(b) != "" {
					t.Fatalf("the attacker is signed in: %v", r.Err)
				}
				if d := time.Since(begun); d > 0 || asked != 1 {
					t.Errorf("refused after %v and %d lookups of the address", d, asked)
				}
			})
		})
	}
}

// taken is a store whose CreateUser reports that the address is taken, although the lookup before did not find it.
type taken struct {
	least
	store.UserDeleter
	store.AccountStore
	store.SessionLister
	deleted []string
}

func (t *taken) CreateUser(context.Context, *core.User) (*core.User, error) {
	return nil, core.ErrConflict
}

func (t *taken) DeleteUser(_ context.Context, id string) error {
	t.deleted = append(t.deleted, id)
	return nil
}

// TestConflictCreatesNoUser checks that a user whom the store refused to create is not deleted: the ID may be another
// person's.
func TestConflictCreatesNoUser(t *testing.T) {
	t.Parallel()
	s := &taken{}
	w := newTown(t, power{}, core.StrategyDatabase, func(c *core.Config) { c.Store = s })
	s.least, s.UserDeleter, s.AccountStore, s.SessionLister = w, w, w, w
	b := w.browser()
	if r := w.through(b, "plain", "s1", victim, ""); r.Err == nil || w.who(b) != "" {
		t.Fatalf("signed in: %v", r.Err)
	}
	if len(s.deleted) > 0 {
		t.Errorf("deleted %q", s.deleted)
	}
}

// halfDone is a store without transactions that can fail to write users and sessions. A failing CreateUser has already
// created the user.
type halfDone struct {
	least
	store.UserDeleter
	store.AccountStore
	store.SessionLister
	users, sessions bool // which writes fail
}

func (s *halfDone) CreateUser(ctx context.Context, u *core.User) (*core.User, error) {
	made, err := s.least.CreateUser(ctx, u)
	if s.users && err == nil {
		return nil, errors.New("connection reset")
	}
	return made, err
}

func (s *halfDone) CreateSession(ctx context.Context, v *store.Session) error {
	if s.sessions {
		return errors.New("connection reset")
	}
	return s.least.CreateSession(ctx, v)
}

// TestCanceledAttempts makes first sign-ins fail halfway on a store without transactions. Nothing must remain, and a
// second attempt must work like a first one.
func TestCanceledAttempts(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(s *halfDone, on bool){
		"the user exists, and the response is lost": func(s *halfDone, on bool) { s.users = on },
		"user and account exist":                    func(s *halfDone, on bool) { s.sessions = on },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &halfDone{}
			var told []string
			w := newTown(t, power{deletes: true, lists: true, ends: true}, core.StrategyDatabase, func(c *core.Config) {
				inner := c.Store
				s.least, s.UserDeleter = inner.(least), inner.(store.UserDeleter)
				s.AccountStore, s.SessionLister = inner.(store.AccountStore), inner.(store.SessionLister)
				c.Store = s
				c.Events.CreateUser = func(context.Context, core.UserEvent) error {
					told = append(told, "createUser")
					return nil
				}
				c.Events.LinkAccount = func(context.Context, core.LinkAccountEvent) error {
					told = append(told, "linkAccount")
					return nil
				}
			})
			fail(s, true)
			if r := w.through(w.browser(), "plain", "s1", victim, ""); r.Err == nil {
				t.Error("signed in")
			}
			if len(w.users)+len(w.accounts) > 0 {
				t.Errorf("users %v, accounts %v", w.users, w.accounts)
			}
			told = nil
			fail(s, false)
			b := w.browser()
			w.signedIn(b, w.through(b, "plain", "s1", victim, ""))
			if want := []string{"createUser", "linkAccount"}; !slices.Equal(told, want) {
				t.Errorf("events %q, want %q", told, want)
			}
		})
	}
}
