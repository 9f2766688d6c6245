package mysql_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/mysql"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// The cases that do not hold in the adapters' tables, because their columns are too small or their collations ignore
// differences. The columns are large enough for ordinary data.
var narrow = []string{
	"user/unusual texts are returned unchanged or rejected", "user/e-mails of 320 bytes, exactly compared",
	"account/ids of 320 bytes and 4-byte runes", "account/linked once, keys are exact",
	"account/large tokens and unknown members are kept", "token/an address of 320 bytes",
	"session/created and read with its user",
}

// adapters are the databases of Auth.js's adapters, each with rows as the adapter writes them.
var adapters = map[string]struct {
	ddl      string
	layout   mysql.Layout
	rows     []string
	existing dbtest.Existing
	except   []string // cases of the contract; nil means that none is run
}{
	"drizzle": {
		"testdata/drizzle.sql", mysql.Drizzle(),
		[]string{
			"INSERT INTO `user` (id, name, email, emailVerified) " +
				"VALUES ('8a1', 'Ada', 'ada@example.com', '2030-01-02 03:04:05.678')",
			"INSERT INTO `account` (userId, type, provider, providerAccountId, access_token, expires_at, scope, token_type) " +
				"VALUES ('8a1', 'oauth', 'github', '4711', 'at', 1893456000, 'user', 'bearer')",
			"INSERT INTO `session` (sessionToken, userId, expires) VALUES ('s1', '8a1', '2030-01-02 03:04:05.678')",
			"INSERT INTO `verificationToken` (identifier, token, expires) " +
				"VALUES ('ada@example.com', 'hash', '2030-01-02 03:04:05.678')",
		},
		// Sessions expire at whole seconds, between 1970 and 2038.
		dbtest.Existing{UserID: "8a1", Session: "s1", Precision: time.Second}, nil,
	},
	"prisma": {
		"testdata/prisma.sql", mysql.Prisma(),
		[]string{
			"INSERT INTO `User` (id, name, email, emailVerified, updatedAt) " +
				"VALUES ('clh1', 'Ada', 'ada@example.com', '2030-01-02 03:04:05.678', '2030-01-02')",
			"INSERT INTO `Account` (userId, type, provider, providerAccountId, access_token, expires_at, scope, " +
				"token_type, updatedAt) " +
				"VALUES ('clh1', 'oauth', 'github', '4711', 'at', 1893456000, 'user', 'bearer', '2030-01-02')",
			"INSERT INTO `Session` (sessionToken, userId, expires, updatedAt) " +
				"VALUES ('s1', 'clh1', '2030-01-02 03:04:05.678', '2030-01-02')",
			"INSERT INTO `VerificationToken` (identifier, token, expires) " +
				"VALUES ('ada@example.com', 'hash', '2030-01-02 03:04:05.678')",
		},
		dbtest.Existing{UserID: "clh1", Session: "s1", EmailRequired: true}, nil,
	},
	"typeorm": {
		"testdata/typeorm.sql", mysql.TypeORM(),
		[]string{
			"INSERT INTO users (id, name, email, emailVerified) " +
				"VALUES ('6f1e6e5e-6f6a-4f6e-9d6e-3f6a5e6f1e6e', 'Ada', 'ada@example.com', '1893553445678')",
			"INSERT INTO accounts (id, userId, type, provider, providerAccountId, access_token, expires_at, scope, " +
				"token_type) VALUES ('a1', '6f1e6e5e-6f6a-4f6e-9d6e-3f6a5e6f1e6e', 'oauth', 'github', '4711', " +
				"'at', 1893456000, 'user', 'bearer')",
			"INSERT INTO sessions (id, sessionToken, userId, expires) " +
				"VALUES ('i1', 's1', '6f1e6e5e-6f6a-4f6e-9d6e-3f6a5e6f1e6e', '1893553445678')",
			"INSERT INTO verification_tokens (id, identifier, token, expires) " +
				"VALUES ('v1', 'ada@example.com', 'hash', '1893553445678')",
		},
		dbtest.Existing{UserID: "6f1e6e5e-6f6a-4f6e-9d6e-3f6a5e6f1e6e", Session: "s1"}, narrow,
	},
}

// statements splits a DDL file. A statement ends at the end of a line.
func statements(t testing.TB, path string) []string {
	t.Helper()
	ddl, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(strings.TrimSpace(string(ddl)), ";"), ";\n")
}

func TestAuthJS(t *testing.T) {
	for name, a := range adapters {
		ddl := statements(t, a.ddl)
		t.Run(name+"/goes on", func(t *testing.T) {
			dsn := engines.MariaDBDatabase(t)
			execute(t, dsn, append(ddl, a.rows...)...)
			s := open(t, dsn, a.layout)
			dbtest.CheckExisting(t, s, a.existing)
			if err := s.Migrate(t.Context()); err != nil {
				t.Errorf("a second time: %v", err)
			}
		})
		if a.except == nil {
			continue
		}
		t.Run(name+"/contract", func(t *testing.T) {
			dsn := engines.MariaDBDatabase(t)
			execute(t, dsn, ddl...)
			storetest.Run(t, emptied(t, dsn, open(t, dsn, a.layout)), a.except...)
		})
	}
}

// TestIntegerIDs uses a layout that no adapter creates here, but that exists in practice.
func TestIntegerIDs(t *testing.T) {
	dsn := engines.MariaDBDatabase(t)
	storetest.Run(t, emptied(t, dsn, open(t, dsn, mysql.Layout{IDs: sqlstore.IntegerIDs, Prefix: "auth_"})))
}
