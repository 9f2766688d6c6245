package memory_test

import (
	"context"
	"errors"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// TestRefusals checks that an ID belongs to one user, that owned rows need a user, and that an update does not change
// the owner.
func TestRefusals(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	with := func(t *testing.T) *memory.Store {
		t.Helper()
		s := memory.New()
		for _, u := range []core.User{{ID: "ada", Email: "ada@example.com"}, {ID: "eve"}} {
			if _, err := s.CreateUser(ctx, &u); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.LinkAccount(ctx, &core.Account{Provider: "p", ProviderAccountID: "1", UserID: "ada"}); err != nil {
			t.Fatal(err)
		}
		if err := s.CreateSession(ctx, &store.Session{Token: "t", UserID: "ada"}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, row := range []struct {
		name string
		do   func(s *memory.Store) error
		want error
	}{
		{"an ID that is taken", func(s *memory.Store) error {
			_, err := s.CreateUser(ctx, &core.User{ID: "ada", Name: "Eve"})
			return err
		}, store.ErrConflict},
		{"a user without an ID", func(s *memory.Store) error {
			_, err := s.CreateUser(ctx, &core.User{Name: "Nobody"})
			return err
		}, store.ErrConflict},
		{"an account of nobody", func(s *memory.Store) error {
			return s.LinkAccount(ctx, &core.Account{Provider: "p", ProviderAccountID: "2", UserID: "nobody"})
		}, store.ErrNotFound},
		{"a session of nobody", func(s *memory.Store) error {
			return s.CreateSession(ctx, &store.Session{Token: "u", UserID: "nobody"})
		}, store.ErrNotFound},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := row.do(with(t)); !errors.Is(err, row.want) {
				t.Errorf("%v, want %v", err, row.want)
			}
		})
	}
	t.Run("an update of another's account", func(t *testing.T) {
		s := with(t)
		if err := s.UpdateAccount(ctx, &core.Account{Provider: "p", ProviderAccountID: "1", UserID: "eve"}); err != nil {
			t.Fatal(err)
		}
		if a, err := s.Account(ctx, "p", "1"); err != nil || a.UserID != "ada" {
			t.Errorf("the account is %+v: %v", a, err)
		}
	})
	t.Run("what a user leaves behind", func(t *testing.T) {
		s := with(t)
		if err := s.DeleteUser(ctx, "ada"); err != nil {
			t.Fatal(err)
		}
		accounts, err := s.Accounts(ctx, "ada")
		sessions, err2 := s.Sessions(ctx, "ada")
		_, gone := s.Account(ctx, "p", "1")
		if err != nil || err2 != nil || len(accounts)+len(sessions) > 0 || !errors.Is(gone, store.ErrNotFound) {
			t.Errorf("%d accounts, %d sessions, %v", len(accounts), len(sessions), gone)
		}
	})
}
