package postgres_test

import (
	"os"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/postgres"
)

// The cases that do not hold with columns of 255 characters and 32-bit integers.
var narrow = []string{
	"user/unusual texts are returned unchanged or rejected", "user/e-mails of 320 bytes, exactly compared",
	"account/ids of 320 bytes and 4-byte runes",
}

// adapters are the databases of Auth.js's adapters, each with rows as the adapter writes them.
var adapters = map[string]struct {
	ddl      string
	layout   postgres.Layout
	rows     []string
	existing dbtest.Existing
	except   []string // cases of the contract; nil with a required email means that none is run
}{
	"pg-adapter": {
		"testdata/pg-adapter.sql", postgres.AuthJS(),
		[]string{
			`INSERT INTO users (name, email, "emailVerified", image)
				VALUES ('Ada', 'ada@example.com', '2030-01-02T03:04:05.678Z', NULL)`,
			`INSERT INTO accounts ("userId", provider, type, "providerAccountId", access_token, expires_at,
					refresh_token, id_token, scope, session_state, token_type)
				VALUES (1, 'github', 'oauth', '4711', 'at', 1893456000, NULL, NULL, 'user', NULL, 'bearer')`,
			`INSERT INTO sessions ("userId", expires, "sessionToken") VALUES (1, '2030-01-02T03:04:05.678Z', 's1')`,
			`INSERT INTO verification_token (identifier, expires, token)
				VALUES ('ada@example.com', '2030-01-02T03:04:05.678Z', 'hash')`,
		},
		dbtest.Existing{UserID: "1", Session: "s1"}, narrow,
	},
	"drizzle": {
		"testdata/drizzle.sql", postgres.Drizzle(),
		[]string{
			`INSERT INTO "user" (id, name, email, "emailVerified")
				VALUES ('8a1', 'Ada', 'ada@example.com', '2030-01-02T03:04:05.678Z')`,
			`INSERT INTO "account" ("userId", type, provider, "providerAccountId", access_token, expires_at, scope, token_type)
				VALUES ('8a1', 'oauth', 'github', '4711', 'at', 1893456000, 'user', 'bearer')`,
			`INSERT INTO "session" ("sessionToken", "userId", expires) VALUES ('s1', '8a1', '2030-01-02T03:04:05.678Z')`,
			`INSERT INTO "verificationToken" (identifier, token, expires)
				VALUES ('ada@example.com', 'hash', '2030-01-02T03:04:05.678Z')`,
		},
		// The counter has 31 bits.
		dbtest.Existing{UserID: "8a1", Session: "s1"}, []string{"authenticator/created, found, counted"},
	},
	"prisma": {
		"testdata/prisma.sql", postgres.Prisma(),
		[]string{
			`INSERT INTO "User" (id, name, email, "emailVerified", "updatedAt")
				VALUES ('clh1', 'Ada', 'ada@example.com', '2030-01-02 03:04:05.678', '2030-01-02')`,
			`INSERT INTO "Account" ("userId", type, provider, "providerAccountId", access_token, expires_at, scope,
					token_type, "updatedAt")
				VALUES ('clh1', 'oauth', 'github', '4711', 'at', 1893456000, 'user', 'bearer', '2030-01-02')`,
			`INSERT INTO "Session" ("sessionToken", "userId", expires, "updatedAt")
				VALUES ('s1', 'clh1', '2030-01-02 03:04:05.678', '2030-01-02')`,
			`INSERT INTO "VerificationToken" (identifier, token, expires)
				VALUES ('ada@example.com', 'hash', '2030-01-02 03:04:05.678')`,
		},
		dbtest.Existing{UserID: "clh1", Session: "s1", EmailRequired: true}, nil,
	},
	"typeorm": {
		"testdata/typeorm.sql", postgres.TypeORM(),
		[]string{
			`INSERT INTO users (id, name, email, "emailVerified")
				VALUES ('6f1e6e5e-6f6a-4f6e-9d6e-3f6a5e6f1e6e', 'Ada', 'ada@example.com', '1893553445678')`,
			`INSERT INTO accounts ("userId", type, provider, "providerAccountId", access_token, expires_at, scope, token_type)
				VALUES ('6f1e6e5e-6f6a-4f6e-9d6e-3f6a5e6f1e6e', 'oauth', 'github', '4711', 'at', 1893456000, 'user', 'bearer')`,
			`INSERT INTO sessions ("sessionToken", "userId", expires)
				VALUES ('s1', '6f1e6e5e-6f6a-4f6e-9d6e-3f6a5e6f1e6e', '1893553445678')`,
			`INSERT INTO verification_tokens (identifier, token, expires) VALUES ('ada@example.com', 'hash', '1893553445678')`,
		},
		dbtest.Existing{UserID: "6f1e6e5e-6f6a-4f6e-9d6e-3f6a5e6f1e6e", Session: "s1"}, []string{},
	},
}

func TestAuthJS(t *testing.T) {
	for name, a := range adapters {
		ddl, err := os.ReadFile(a.ddl)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name+"/goes on", func(t *testing.T) {
			dsn := engines.PostgresSchema(t)
			execute(t, dsn, string(ddl))
			execute(t, dsn, a.rows...)
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
			dsn := engines.PostgresSchema(t)
			execute(t, dsn, string(ddl))
			storetest.Run(t, emptied(t, dsn, open(t, dsn, a.layout)), a.except...)
		})
	}
}
