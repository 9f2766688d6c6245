package sqltest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// nextStep is a migration to version 3 that follows the rule in storage/sql's README: it adds nullable columns, with an
// index, and a table.
func (d Database) nextStep() {
	d.Execute(
		"ALTER TABLE users ADD COLUMN seen INTEGER", "ALTER TABLE latchkey_records ADD COLUMN seen INTEGER",
		"CREATE INDEX users_seen ON users (seen)",
		"CREATE TABLE visits (visit INTEGER NOT NULL PRIMARY KEY, user_seen INTEGER)",
		"UPDATE latchkey_schema SET version = 3, readable = 1",
	)
}

// readableVersion checks that a program that restarts, or is rolled back, can use tables of the next version and does
// not change the version.
func readableVersion(t *testing.T, d Database) {
	running := d.Migrated(t)
	signInUser(t, running, "before")
	d.nextStep()
	signInUser(t, running, "running")
	for _, name := range []string{"started", "started again"} {
		signInUser(t, d.Migrated(t), name)
	}
	d.Execute("UPDATE latchkey_schema SET readable = 3") // the step after that ends the compatibility
	if err := d.Open(sqlstore.Layout{}).Migrate(t.Context()); err == nil {
		t.Error("a program of this version started on tables that it cannot read")
	}
	d.Execute("UPDATE latchkey_schema SET readable = 1")
	if err := d.Open(sqlstore.Layout{}).Migrate(t.Context()); err != nil {
		t.Error(err)
	}
	if got := d.Count("SELECT version FROM latchkey_schema"); got != 3 {
		t.Errorf("a program of version 2 has made version 3 a %d", got)
	}
}

// twoVersions checks that programs of this version and of the next version can write concurrently, even the same users.
func twoVersions(t *testing.T, d Database) {
	s := d.Migrated(t)
	signInUser(t, s, "both")
	d.nextStep()
	older := d.Migrated(t)
	var all sync.WaitGroup
	all.Go(func() {
		for i := range 20 {
			signInUser(t, older, fmt.Sprint("older", i))
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

// earlierVersions checks the start on a versions table without the column readable, as earlier programs created it.
func earlierVersions(t *testing.T, d Database) {
	s := d.Migrated(t)
	signInUser(t, s, "before")
	d.Execute("ALTER TABLE latchkey_schema DROP COLUMN readable")
	signInUser(t, d.Migrated(t), "after")
	if got := d.Count("SELECT readable FROM latchkey_schema WHERE version = 2"); got != 1 {
		t.Errorf("readable from %d", got)
	}
}

// signInUser creates a user and runs the calls of a sign-in.
func signInUser(t *testing.T, s interface {
	store.Store
	store.SessionStore
	store.RecordStore
}, id string) {
	t.Helper()
	u, err := s.CreateUser(t.Context(), &store.User{ID: id, Email: id + "@example.com"})
	if err != nil {
		t.Error(err)
		return
	}
	session := &store.Session{Token: store.Secret("session of " + id), UserID: id, Expires: time.Unix(2e9, 0)}
	record := &store.Record{Kind: "note", Key: id, UserID: id, Value: []byte("1")}
	_, updating := s.UpdateUser(t.Context(), u)
	err = errors.Join(
		updating,
		s.LinkAccount(t.Context(), &store.Account{UserID: id, Provider: "p", ProviderAccountID: id}),
		s.CreateSession(t.Context(), session),
		s.UpdateSession(t.Context(), string(session.Token), time.Unix(2e9+1, 0)),
		s.CreateRecord(t.Context(), record), s.UpdateRecord(t.Context(), record),
	)
	if err != nil {
		t.Error(err)
	}
	if _, got, err := s.SessionAndUser(t.Context(), string(session.Token)); err != nil || got.ID != id {
		t.Errorf("session of %s: %v", id, err)
	}
	if list, err := s.UserRecords(t.Context(), id, ""); err != nil || len(list) != 1 || list[0].Version != 2 {
		t.Errorf("%d records of %s: %v", len(list), id, err)
	}
}

// firstVersion checks the start on tables of version 1, which had no records, and the concurrent use by a program of
// version 1.
func firstVersion(t *testing.T, d Database) {
	d.Migrated(t)
	d.Execute("DROP TABLE latchkey_records", "UPDATE latchkey_schema SET version = 1",
		"INSERT INTO users (id, email) VALUES ('before', 'before@example.com')")
	s := d.Migrated(t)
	if got := d.Count("SELECT version FROM latchkey_schema WHERE readable = 1"); got != 2 {
		t.Errorf("version %d, want 2", got)
	}
	signInUser(t, s, "after")
	note := func(user string) *store.Record {
		return &store.Record{Kind: "letter", Key: user, UserID: user, Value: []byte("1")}
	}
	must(t, s.CreateRecord(t.Context(), note("before")))
	must(t, s.DeleteUser(t.Context(), "before"))
	if _, err := s.Record(t.Context(), "letter", "before"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a record of a deleted user: %v", err)
	}
	// If a program of version 1 deletes a user in a database of version 2, the foreign key deletes the user's records.
	s = d.Migrated(t, sqlstore.Layout{Prefix: "new_"})
	_, err := s.CreateUser(t.Context(), &store.User{ID: "u"})
	must(t, err)
	must(t, s.CreateRecord(t.Context(), note("u")))
	d.Execute("DELETE FROM new_users WHERE id = 'u'")
	if _, err := s.Record(t.Context(), "letter", "u"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a record of a user whom another program deleted: %v", err)
	}
}
