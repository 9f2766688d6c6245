package sqlite_test

import (
	"database/sql"
	"os"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// others are databases of other programs, each with rows as that program writes them.
var others = map[string]struct {
	ddl      string
	layout   sqlite.Layout
	rows     []string
	existing dbtest.Existing
	except   []string // cases of the contract; nil with a required email means that none is run
}{
	"earlier": {
		"testdata/earlier.sql", sqlite.Layout{},
		[]string{
			`INSERT INTO users (id, name, email, emailVerified) VALUES ('8a1', 'Ada', 'ada@example.com', 1893553445678000)`,
			`INSERT INTO accounts (userId, type, provider, providerAccountId, access_token, expires_at, scope)
				VALUES ('8a1', 'oauth', 'github', '4711', 'at', 1893456000, 'user')`,
			`INSERT INTO sessions VALUES ('s1', '8a1', 1893553445678000)`,
			`INSERT INTO verification_token VALUES ('ada@example.com', 'hash', 1893553445678000)`,
		},
		dbtest.Existing{UserID: "8a1", Session: "s1"}, []string{},
	},
	"d1": {
		"testdata/d1.sql", sqlite.D1(),
		[]string{
			`INSERT INTO users (id, name, email, emailVerified, image)
				VALUES ('8a1', 'Ada', 'ada@example.com', '2030-01-02T03:04:05.678Z', NULL)`,
			`INSERT INTO accounts (id, userId, type, provider, providerAccountId, access_token, expires_at, scope, token_type)
				VALUES ('a1', '8a1', 'oauth', 'github', '4711', 'at', 1893456000, 'user', 'bearer')`,
			`INSERT INTO sessions (id, sessionToken, userId, expires) VALUES ('i1', 's1', '8a1', '2030-01-02T03:04:05.678Z')`,
			`INSERT INTO verification_tokens (identifier, token, expires)
				VALUES ('ada@example.com', 'hash', '2030-01-02T03:04:05.678Z')`,
		},
		// Two separate columns are null if the member is missing.
		dbtest.Existing{UserID: "8a1", Session: "s1"}, []string{"account/large tokens and unknown members are kept"},
	},
	"drizzle": {
		"testdata/drizzle.sql", sqlite.Drizzle(),
		[]string{
			`INSERT INTO user (id, name, email, emailVerified) VALUES ('8a1', 'Ada', 'ada@example.com', 1893553445678)`,
			`INSERT INTO account (userId, type, provider, providerAccountId, access_token, expires_at, scope, token_type)
				VALUES ('8a1', 'oauth', 'github', '4711', 'at', 1893456000, 'user', 'bearer')`,
			`INSERT INTO session (sessionToken, userId, expires) VALUES ('s1', '8a1', 1893553445678)`,
			`INSERT INTO verificationToken (identifier, token, expires) VALUES ('ada@example.com', 'hash', 1893553445678)`,
		},
		dbtest.Existing{UserID: "8a1", Session: "s1"}, []string{},
	},
	"prisma": {
		"testdata/prisma.sql", sqlite.Prisma(),
		[]string{
			`INSERT INTO "User" (id, name, email, emailVerified, updatedAt)
				VALUES ('clh1', 'Ada', 'ada@example.com', 1893553445678, 1893553445678)`,
			`INSERT INTO "Account" (userId, type, provider, providerAccountId, access_token, expires_at, scope,
					token_type, updatedAt)
				VALUES ('clh1', 'oauth', 'github', '4711', 'at', 1893456000, 'user', 'bearer', 1893553445678)`,
			`INSERT INTO "Session" (sessionToken, userId, expires, updatedAt)
				VALUES ('s1', 'clh1', 1893553445678, 1893553445678)`,
			`INSERT INTO "VerificationToken" (identifier, token, expires) VALUES ('ada@example.com', 'hash', 1893553445678)`,
		},
		dbtest.Existing{UserID: "clh1", Session: "s1", EmailRequired: true}, nil,
	},
	"typeorm": {
		"testdata/typeorm.sql", sqlite.TypeORM(),
		[]string{
			`INSERT INTO users (id, name, email, emailVerified)
				VALUES ('6f1e6e5e-6f6a-4f6e-9d6e-3f6a5e6f1e6e', 'Ada', 'ada@example.com', '1893553445678')`,
			`INSERT INTO accounts (id, userId, type, provider, providerAccountId, access_token, expires_at, scope, token_type)
				VALUES ('a1', '6f1e6e5e-6f6a-4f6e-9d6e-3f6a5e6f1e6e', 'oauth', 'github', '4711', 'at', 1893456000,
					'user', 'bearer')`,
			`INSERT INTO sessions (id, sessionToken, userId, expires)
				VALUES ('i1', 's1', '6f1e6e5e-6f6a-4f6e-9d6e-3f6a5e6f1e6e', '1893553445678')`,
			`INSERT INTO verification_tokens (id, identifier, token, expires)
				VALUES ('v1', 'ada@example.com', 'hash', '1893553445678')`,
		},
		dbtest.Existing{UserID: "6f1e6e5e-6f6a-4f6e-9d6e-3f6a5e6f1e6e", Session: "s1"}, []string{},
	},
}

// execute runs statements on its own handle.
func execute(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", sqlite.DSN(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	// Another program waits for the lock.
	for _, statement := range append([]string{"PRAGMA busy_timeout = 60000"}, statements...) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// count returns the number that a query selects.
func count(t testing.TB, path, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", sqlite.DSN(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func TestOtherTables(t *testing.T) {
	for name, o := range others {
		ddl, err := os.ReadFile(o.ddl)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name+"/goes on", func(t *testing.T) {
			path := file(t)
			execute(t, path, string(ddl))
			execute(t, path, o.rows...)
			s := open(t, path, o.layout)
			dbtest.CheckExisting(t, s, o.existing)
			if err := s.Migrate(t.Context()); err != nil {
				t.Errorf("a second time: %v", err)
			}
		})
		if o.except == nil {
			continue
		}
		t.Run(name+"/contract", func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) core.Store {
				path := file(t)
				execute(t, path, string(ddl))
				return open(t, path, o.layout)
			}, o.except...)
		})
	}
}
