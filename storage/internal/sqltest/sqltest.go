// Package sqltest tests the properties of the SQL stores that go beyond the contract in conformance/kit/storetest:
// layouts, migrations, nested transactions, errors, and the number of statements for each call.
package sqltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core/store"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// Store has the methods that the stores on SQL databases share.
type Store interface {
	store.Store
	store.SessionStore
	store.VerificationTokenStore
	store.AuthenticatorStore
	store.Transactor
	store.AccountStore
	store.UserDeleter
	store.SessionLister
	store.Cleaner
	store.RecordStore
	Migrate(ctx context.Context) error
}

// Database is an empty database.
type Database struct {
	// Open opens a Store on its own pool, without migrating. It is closed at the end of the test.
	Open func(layout sqlstore.Layout) Store
	// Execute runs statements like another program.
	Execute func(statements ...string)
	// Count returns the single number that a query selects.
	Count func(query string) int
	// DropIndex returns the statement that drops an index of a table.
	DropIndex func(table, index string) string
}

// Layouts are other layouts for the same data. The whole contract must hold in each.
func Layouts() map[string]sqlstore.Layout {
	return map[string]sqlstore.Layout{
		"prefix and other columns": {
			Prefix: "auth_", Sessions: "logins",
			Columns: map[string]string{
				"users.emailVerified": "email_verified", "sessions.sessionToken": "token",
				"accounts.userId": "user_id", "accounts.extra": "more", "latchkey_records.key": "name",
			},
		},
		"integer ids":            {IDs: sqlstore.IntegerIDs},
		"uuids":                  {IDs: sqlstore.UUIDs},
		"milliseconds":           {Times: sqlstore.MillisTimes},
		"milliseconds as text":   {Times: sqlstore.MillisTextTimes},
		"times as text":          {Times: sqlstore.ISOTimes},
		"times as text, offset":  {Times: sqlstore.OffsetTimes},
		"records with ids":       {RecordIDs: []string{"accounts", "sessions", "verification_token", "authenticators"}},
		"time of the last write": {UpdatedAt: "updatedAt"},
	}
}

// Run runs all cases, each on an empty database.
func Run(t *testing.T, trouble storetest.Trouble, database func(t *testing.T) Database) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Database)
	}{
		{"migrate/many processes at once", manyMigrate},
		{"migrate/a later version is left alone", laterVersion},
		{"migrate/a later version that this program reads", readableVersion},
		{"migrate/a program of this version and one of the next", twoVersions},
		{"migrate/the table of versions of an earlier program", earlierVersions},
		{"migrate/tables of version 1, without records", firstVersion},
		{"migrate/interrupted, then again", interrupted},
		{"migrate/rows that share what must be unique", duplicates},
		{"migrate/a column that is missing is named", missingColumn},
		{"migrate/what a schema tool dropped is made again", dropped},
		{"migrate/many processes put back what was dropped", manyMend},
		{"migrate/what it does not know stays", unknown},
		{"migrate/rows that became duplicates while an index was gone", laterDuplicates},
		{"members/with columns of their own", ownColumns},
		{"transaction/within a transaction", nested},
		{"transaction/over", over},
		{"errors/name the operation and no value", func(t *testing.T, d Database) { noValues(t, d, trouble) }},
		{"errors/missing tables and columns say what to call", func(t *testing.T, d Database) { sayMigrate(t, d, trouble) }},
		{"ids/a user without an id", noID},
		{"guests/a layout without users without an address", emailRequired},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, database(t)) })
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Migrated opens a store with the given layout, or the zero Layout, and migrates it.
func (d Database) Migrated(t testing.TB, layout ...sqlstore.Layout) Store {
	t.Helper()
	var own sqlstore.Layout
	for _, own = range layout {
	}
	s := d.Open(own)
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func manyMigrate(t *testing.T, d Database) {
	var all sync.WaitGroup
	for range 8 {
		s := d.Open(sqlstore.Layout{})
		all.Go(func() {
			for range 2 {
				if err := s.Migrate(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	_, err := d.Open(sqlstore.Layout{}).CreateUser(t.Context(), &store.User{ID: "u1"})
	must(t, err)
}

func laterVersion(t *testing.T, d Database) {
	s := d.Migrated(t)
	for _, readable := range []string{"1000", "NULL"} {
		d.Execute("UPDATE latchkey_schema SET version = 1000, readable = " + readable)
		if err := s.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "newer program") {
			t.Errorf("readable by %s: error %v", readable, err)
		}
	}
}

func interrupted(t *testing.T, d Database) {
	for i := range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
		if err := d.Open(sqlstore.Layout{}).Migrate(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		cancel()
	}
	d.Migrated(t)
}

// others creates a users table as another program may have created it.
const others = `CREATE TABLE users (
	id VARCHAR(40) NOT NULL PRIMARY KEY, name VARCHAR(40), email VARCHAR(40), %s, image VARCHAR(40))`

func duplicates(t *testing.T, d Database) {
	verified := sqlstore.Layout{Times: sqlstore.MillisTimes, Columns: map[string]string{"users.emailVerified": "verified"}}
	d.Execute(
		fmt.Sprintf(others, "verified BIGINT"),
		"INSERT INTO users (id, email) VALUES ('a', 'ada@example.com'), ('b', 'ada@example.com')",
		"INSERT INTO users (id, email) VALUES ('c', ''), ('d', '')",
	)
	s := d.Open(verified)
	err := s.Migrate(t.Context())
	if err == nil || !strings.Contains(err.Error(), "table users") || !strings.Contains(err.Error(), "email") ||
		strings.Contains(err.Error(), "ada@") || errors.Is(err, store.ErrConflict) {
		t.Errorf("error %v", err)
	}
	d.Execute("DELETE FROM users WHERE id = 'b'")
	must(t, s.Migrate(t.Context()))
	u, err := s.UserByEmail(t.Context(), "ada@example.com")
	must(t, err)
	if u.ID != "a" {
		t.Errorf("user %q", u.ID)
	}
	_, err = s.CreateUser(t.Context(), &store.User{ID: "e", Email: "ada@example.com"})
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("error %v", err)
	}
	must(t, s.CreateSession(t.Context(), &store.Session{Token: "s", UserID: "c", Expires: time.UnixMilli(1)}))
}

func missingColumn(t *testing.T, d Database) {
	d.Execute(fmt.Sprintf(others, "verified BIGINT"))
	err := d.Open(sqlstore.Layout{}).Migrate(t.Context())
	if err == nil || !strings.Contains(err.Error(), "table users: there is no column emailVerified") {
		t.Errorf("error %v", err)
	}
}

func ownColumns(t *testing.T, d Database) {
	s := d.Migrated(t, sqlstore.Layout{UserMembers: []string{"role", "language"}, AccountMembers: []string{"oauth_token"}})
	extra := store.Members{"role": json.RawMessage(`"admin"`), "rank": json.RawMessage(`7`)}
	u, err := s.CreateUser(t.Context(), &store.User{ID: "u1", Email: "ada@example.com", Extra: extra})
	must(t, err)
	d.Execute("UPDATE users SET language = 'en' WHERE role = 'admin'")
	for range 2 {
		u, err = s.User(t.Context(), u.ID)
		must(t, err)
		if u.Extra.Text("role") != "admin" || u.Extra.Text("language") != "en" ||
			string(u.Extra["rank"]) != "7" || len(u.Extra) != 3 {
			t.Errorf("members %s", u.Extra)
		}
		u, err = s.UpdateUser(t.Context(), u)
		must(t, err)
	}
	delete(u.Extra, "role")
	u, err = s.UpdateUser(t.Context(), u)
	must(t, err)
	if string(u.Extra["role"]) != "null" {
		t.Errorf("a column without a value reads %s", u.Extra["role"])
	}
	a := &store.Account{
		UserID: u.ID, Type: store.TypeOAuth, Provider: "p", ProviderAccountID: "1",
		Extra: store.Members{"oauth_token": json.RawMessage(`"t"`), "x": json.RawMessage(`[1]`)},
	}
	must(t, s.LinkAccount(t.Context(), a))
	d.Execute("UPDATE accounts SET oauth_token = 't2' WHERE oauth_token = 't'")
	got, err := s.Account(t.Context(), "p", "1")
	must(t, err)
	if got.Extra.Text("oauth_token") != "t2" || string(got.Extra["x"]) != "[1]" || len(got.Extra) != 2 {
		t.Errorf("members %s", got.Extra)
	}
}

// drops are the statements of a schema tool that knows only the adapter's tables, as far as they apply to the default
// layout.
func (d Database) drops() []string {
	return []string{
		"ALTER TABLE users DROP COLUMN extra", "ALTER TABLE accounts DROP COLUMN extra",
		"ALTER TABLE accounts DROP COLUMN authorization_details",
		d.DropIndex("users", "users_email"), d.DropIndex("sessions", "sessions_expires"),
		d.DropIndex("verification_token", "verification_token_expires"),
		"DROP TABLE authenticators", "DROP TABLE latchkey_records",
	}
}

// whole checks that everything that drops deletes exists. So it can be dropped again.
func (d Database) whole(t *testing.T, s Store) {
	t.Helper()
	u, err := s.CreateUser(t.Context(), &store.User{
		ID: "whole", Email: "whole@example.com", Extra: store.Members{"role": json.RawMessage(`"admin"`)},
	})
	must(t, err)
	must(t, s.LinkAccount(t.Context(), &store.Account{
		UserID: u.ID, Provider: "p", ProviderAccountID: "1", AuthorizationDetails: json.RawMessage(`[1]`),
	}))
	must(t, s.CreateAuthenticator(t.Context(), &store.Authenticator{CredentialID: "c", UserID: u.ID}))
	must(t, s.CreateRecord(t.Context(), &store.Record{Kind: "note", Key: "k", UserID: u.ID, Value: []byte("1")}))
	if u, err = s.UserByEmail(t.Context(), u.Email); err != nil || u.Extra.Text("role") != "admin" {
		t.Errorf("user %v, error %v", u, err)
	}
	if _, err := s.CreateUser(t.Context(), &store.User{ID: "other", Email: u.Email}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a second user with one address: error %v", err)
	}
	must(t, s.DeleteUser(t.Context(), u.ID))
	d.Execute(d.drops()...)
}

func dropped(t *testing.T, d Database) {
	running := d.Migrated(t)
	_, err := running.CreateUser(t.Context(), &store.User{ID: "ada", Email: "ada@example.com"})
	must(t, err)
	session := &store.Session{Token: "s", UserID: "ada", Expires: time.UnixMilli(1893553445678)}
	must(t, running.CreateSession(t.Context(), session))
	_, _, err = running.SessionAndUser(t.Context(), "s")
	must(t, err)
	d.Execute(d.drops()...)
	_, _, err = running.SessionAndUser(t.Context(), "s")
	if err == nil || !strings.Contains(err.Error(), "call store.Migrate(ctx)") {
		t.Errorf("a column is missing: error %v", err)
	}
	restarted := d.Migrated(t)
	for name, s := range map[string]Store{"restarted": restarted, "running": running} {
		session, user, err := s.SessionAndUser(t.Context(), "s")
		if err != nil || user.ID != "ada" || !session.Expires.Equal(time.UnixMilli(1893553445678)) {
			t.Errorf("%s: session %v of %v, error %v", name, session, user, err)
		}
	}
	d.whole(t, running)
	must(t, running.Migrate(t.Context()))
	d.whole(t, restarted)
}

func manyMend(t *testing.T, d Database) {
	s := d.Migrated(t)
	d.Execute(d.drops()...)
	var all sync.WaitGroup
	for range 6 {
		other := d.Open(sqlstore.Layout{})
		all.Go(func() {
			if err := other.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	d.whole(t, s)
}

func unknown(t *testing.T, d Database) {
	d.Migrated(t)
	d.Execute(
		"ALTER TABLE users ADD COLUMN nickname VARCHAR(40)", "CREATE INDEX users_nickname ON users (nickname)",
		"CREATE TABLE notes (id VARCHAR(40) NOT NULL PRIMARY KEY)", "INSERT INTO notes (id) VALUES ('n')",
		"INSERT INTO users (id, email, nickname) VALUES ('a', 'ada@example.com', 'Countess')",
	)
	d.Execute(d.drops()...)
	s := d.Migrated(t)
	d.Execute(
		"DELETE FROM notes WHERE id = 'n'", d.DropIndex("users", "users_nickname"),
		"UPDATE users SET email = 'c@example.com' WHERE nickname = 'Countess'",
	)
	if u, err := s.UserByEmail(t.Context(), "c@example.com"); err != nil || u.ID != "a" {
		t.Errorf("user %v, error %v: the application's own column has lost its value", u, err)
	}
}

func laterDuplicates(t *testing.T, d Database) {
	s := d.Migrated(t)
	d.Execute(
		d.DropIndex("users", "users_email"),
		"INSERT INTO users (id, email) VALUES ('a', 'ada@example.com'), ('b', 'ada@example.com')",
	)
	err := s.Migrate(t.Context())
	const advice = "table users: rows have the same values of [email], which must be unique: " +
		"merge or remove them first, then call Migrate again"
	if err == nil || !strings.Contains(err.Error(), advice) || strings.Contains(err.Error(), "ada@") {
		t.Errorf("error %v", err)
	}
	d.Execute("DELETE FROM users WHERE id = 'b'")
	must(t, s.Migrate(t.Context()))
	_, err = s.CreateUser(t.Context(), &store.User{ID: "c", Email: "ada@example.com"})
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("error %v", err)
	}
}

func sayMigrate(t *testing.T, d Database, trouble storetest.Trouble) {
	s := d.Open(sqlstore.Layout{})
	check := func(what string) {
		t.Helper()
		for operation, call := range trouble.Calls(s, "secret-of-somebody", "secret-of-somebody") {
			if err := call(t.Context()); err == nil || !strings.Contains(err.Error(), "call store.Migrate(ctx) at start-up") {
				t.Errorf("%s, %s: error %v", what, operation, err)
			}
		}
	}
	check("no tables")
	must(t, s.Migrate(t.Context()))
	for operation, call := range trouble.Calls(s, "secret-of-somebody", "secret-of-somebody") {
		if err := call(t.Context()); err != nil && strings.Contains(err.Error(), "Migrate") {
			t.Errorf("all is there, %s: error %v", operation, err)
		}
	}
}

var errTest = errors.New("the test says no")

func nested(t *testing.T, d Database) {
	s := d.Migrated(t)
	err := s.InTransaction(t.Context(), func(ctx context.Context, outer store.Store) error {
		if _, err := outer.CreateUser(ctx, &store.User{ID: "u1"}); err != nil {
			return err
		}
		inner := func(id string, result error) error {
			return outer.(store.Transactor).InTransaction(ctx, func(ctx context.Context, tx store.Store) error {
				if _, err := tx.CreateUser(ctx, &store.User{ID: id}); err != nil {
					return err
				}
				return result
			})
		}
		if err := inner("u2", errTest); !errors.Is(err, errTest) {
			t.Errorf("error %v", err)
		}
		// On some databases a conflict aborts the transaction, but not within a savepoint.
		if err := inner("u1", nil); !errors.Is(err, store.ErrConflict) {
			t.Errorf("error %v", err)
		}
		return inner("u3", nil)
	})
	must(t, err)
	for id, want := range map[string]error{"u1": nil, "u2": store.ErrNotFound, "u3": nil} {
		if _, err := s.User(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func over(t *testing.T, d Database) {
	s := d.Migrated(t)
	var kept store.Store
	must(t, s.InTransaction(t.Context(), func(_ context.Context, tx store.Store) error { kept = tx; return nil }))
	if _, err := kept.CreateUser(t.Context(), &store.User{ID: "u1"}); err == nil {
		t.Error("a transaction that was over wrote a user")
	}
	if _, err := s.User(t.Context(), "u1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("error %v", err)
	}
}

func noValues(t *testing.T, d Database, trouble storetest.Trouble) {
	s := d.Open(sqlstore.Layout{}) // without tables
	trouble.Fails(t, s, "", time.Minute)
	must(t, s.Migrate(t.Context()))
	trouble.Fails(t, s, "", -time.Second)
	long := strings.Repeat("5ecret", 400)
	err := s.CreateVerificationToken(t.Context(), &store.VerificationToken{Identifier: long, Token: long})
	if err != nil && strings.Contains(err.Error(), "5ecret5ecret") {
		t.Errorf("the error holds a value: %v", err)
	}
	for _, text := range []string{"5ecret\x00", "5ecret\xff"} {
		_, err := s.CreateUser(t.Context(), &store.User{ID: "u1", Name: text})
		if err == nil || !strings.Contains(err.Error(), "NUL") || strings.Contains(err.Error(), "5ecret") {
			t.Errorf("error %v", err)
		}
	}
}

func noID(t *testing.T, d Database) {
	for _, layout := range []sqlstore.Layout{{}, {IDs: sqlstore.UUIDs, Prefix: "uuid_"}} {
		if _, err := d.Migrated(t, layout).CreateUser(t.Context(), &store.User{}); err == nil {
			t.Error("a user without an id was made")
		}
	}
}
