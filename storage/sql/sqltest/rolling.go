package sqltest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// nextStep is a step to version 2 that keeps the rule of storage/sql's README: it adds a column that may be null, with
// an index, and a table.
func (d Database) nextStep() {
	d.Execute(
		"ALTER TABLE users ADD COLUMN seen INTEGER", "CREATE INDEX users_seen ON users (seen)",
		"CREATE TABLE visits (visit INTEGER NOT NULL PRIMARY KEY, user_seen INTEGER)",
		"UPDATE latchkey_schema SET version = 2, readable = 1",
	)
}

// readableVersion: a program that starts again, or comes back in place of the next one, goes on with tables of the next
// version, and leaves the version as it is.
func readableVersion(t *testing.T, d Database) {
	running := d.Migrated(t)
	visitor(t, running, "before")
	d.nextStep()
	visitor(t, running, "running")
	for _, name := range []string{"started", "started again"} {
		visitor(t, d.Migrated(t), name)
	}
	d.Execute("UPDATE latchkey_schema SET readable = 2") // the step after that ends it
	if err := d.Open().Migrate(t.Context()); err == nil {
		t.Error("a program of this version started on tables that it cannot read")
	}
	d.Execute("UPDATE latchkey_schema SET readable = 1")
	if err := d.Open().Migrate(t.Context()); err != nil {
		t.Error(err)
	}
	if got := d.Count("SELECT version FROM latchkey_schema"); got != 2 {
		t.Errorf("a program of version 1 has made version 2 a %d", got)
	}
}

// beside has a program of this version and one of the next write at once, the same users too.
func beside(t *testing.T, d Database) {
	s := d.Migrated(t)
	visitor(t, s, "both")
	d.nextStep()
	older := d.Migrated(t)
	var all sync.WaitGroup
	all.Go(func() {
		for i := range 20 {
			visitor(t, older, fmt.Sprint("older", i))
			if _, err := older.UpdateUser(t.Context(), &store.User{ID: "both", Email: "both@example.com"}); err != nil {
				t.Error(err)
			}
		}
	})
	for i := range 20 {
		d.Execute(fmt.Sprintf("UPDATE users SET seen = %d WHERE id = 'both'", i),
			fmt.Sprintf("INSERT INTO visits (visit, user_seen) VALUES (%d, %d)", i, i),
			fmt.Sprintf("INSERT INTO users (id, email, seen) VALUES ('next%d', 'next%d@example.com', 1)", i, i))
	}
	all.Wait()
	for i := range 20 {
		u, err := older.UserByEmail(t.Context(), fmt.Sprintf("next%d@example.com", i))
		must(t, err)
		if u.ID != fmt.Sprint("next", i) {
			t.Errorf("a user of the next program is %q", u.ID)
		}
	}
	if got := d.Count("SELECT seen FROM users WHERE id = 'both'"); got != 19 {
		t.Errorf("the older program has written the column that it does not know: %d", got)
	}
}

// earlierVersions starts on the table of versions as programs made it that knew no readable versions.
func earlierVersions(t *testing.T, d Database) {
	s := d.Migrated(t)
	visitor(t, s, "before")
	d.Execute("ALTER TABLE latchkey_schema DROP COLUMN readable")
	visitor(t, d.Migrated(t), "after")
	if got := d.Count("SELECT readable FROM latchkey_schema WHERE version = 1"); got != 1 {
		t.Errorf("readable from %d", got)
	}
}

// visitor does with a user what a program does between two starts.
func visitor(t *testing.T, s interface {
	store.Store
	store.SessionStore
}, id string) {
	t.Helper()
	u, err := s.CreateUser(t.Context(), &store.User{ID: id, Email: id + "@example.com"})
	if err != nil {
		t.Error(err)
		return
	}
	session := &store.Session{Token: store.Secret("session of " + id), UserID: id, Expires: time.Unix(2e9, 0)}
	_, updating := s.UpdateUser(t.Context(), u)
	err = errors.Join(
		updating,
		s.LinkAccount(t.Context(), &store.Account{UserID: id, Provider: "p", ProviderAccountID: id}),
		s.CreateSession(t.Context(), session),
		s.UpdateSession(t.Context(), string(session.Token), time.Unix(2e9+1, 0)),
	)
	if err != nil {
		t.Error(err)
	}
	if _, got, err := s.SessionAndUser(t.Context(), string(session.Token)); err != nil || got.ID != id {
		t.Errorf("session of %s: %v", id, err)
	}
}
