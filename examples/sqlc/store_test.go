package main

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

func openStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "people.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestStore runs the contract of stores on the application's tables, without exceptions.
func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return openStore(t) })
}

// TestApplicationColumns: an update by Latchkey keeps the columns that only the application writes.
func TestApplicationColumns(t *testing.T) {
	s := openStore(t)
	u, err := s.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool.ExecContext(t.Context(), "UPDATE people SET plan = 'team'"); err != nil {
		t.Fatal(err)
	}
	u.Name = "Ada"
	if _, err := s.UpdateUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	row, err := s.queries.PersonByEmail(t.Context(), sql.NullString{String: "ada@example.com", Valid: true})
	if err != nil || row.Plan != "team" || row.FullName != "Ada" {
		t.Errorf("plan %q, name %q, error %v", row.Plan, row.FullName, err)
	}
}

// TestDeletedUser: writes for a user who was deleted in the meantime return ErrNotFound.
func TestDeletedUser(t *testing.T) {
	s := openStore(t)
	for name, err := range map[string]error{
		"account": s.LinkAccount(t.Context(), &core.Account{UserID: "gone", Provider: "p", ProviderAccountID: "1"}),
		"session": s.CreateSession(t.Context(), &store.Session{Token: "s", UserID: "gone"}),
	} {
		if !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTables: Open keeps the tables and rows of an existing file. Only its owner can read the file.
func TestTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "people.db")
	for _, id := range []string{"1", "2"} {
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.CreateUser(t.Context(), &core.User{ID: id}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.User(t.Context(), "1"); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
}
