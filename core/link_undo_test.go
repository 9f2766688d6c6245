package core_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// halfDone is a store without transactions whose writes of users and sessions can fail, the first after the user is
// there.
type halfDone struct {
	least
	store.UserDeleter
	store.AccountStore
	store.SessionLister
	users, sessions bool // that they fail
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

// TestTakenBack lets first sign-ins fail half-way on a store without transactions: nothing stays, and the second
// try is as the first.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(s *halfDone, on bool){
		"the user is there, and the answer is lost": func(s *halfDone, on bool) { s.users = on },
		"user and account are there":                func(s *halfDone, on bool) { s.sessions = on },
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
