package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/storetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// open opens and migrates a store for the length of a test.
func open(t testing.TB, path string, layout ...sqlite.Layout) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, layout...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// file is the path of a database of one test, whose name would be cut off if it were not escaped.
func file(t testing.TB) string { return filepath.Join(t.TempDir(), "a b?c#d.db") }

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return open(t, file(t)) })
	t.Logf("sqlite: %d cases", storetest.Count())
}

func TestContractInMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return open(t, ":memory:") })
}

func TestTwoProcessesMigrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	done := make(chan error, 2)
	for range 2 {
		go func() {
			s, err := sqlite.Open(path)
			if err == nil {
				err = s.Migrate(t.Context())
				_ = s.Close()
			}
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestSessionReadUsesIndexes asks the engine how it would read a session.
func TestSessionReadUsesIndexes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	open(t, path)
	db, err := sql.Open("sqlite", sqlite.DSN(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for name, query := range map[string]string{
		"session and user": `SELECT * FROM sessions s JOIN users u ON u.id = s."userId" WHERE s."sessionToken" = 'x'`,
		"user by account":  `SELECT * FROM accounts a JOIN users u ON u.id = a."userId" WHERE a.provider = 'p' AND a."providerAccountId" = '1'`,
		"user by e-mail":   `SELECT * FROM users WHERE email = 'x'`,
		"expired sessions": `DELETE FROM sessions WHERE expires < 1`,
	} {
		rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(detail, "SCAN") {
				t.Errorf("%s: %s", name, detail)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		_ = rows.Close()
	}
}

func BenchmarkSessionAndUser(b *testing.B) {
	for _, n := range []int{1e3, 1e5} {
		b.Run(fmt.Sprintf("%d sessions", n), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "app.db"))
			ctx := b.Context()
			if _, err := s.CreateUser(ctx, &core.User{ID: "u"}); err != nil {
				b.Fatal(err)
			}
			err := s.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
				for i := range n {
					if err := tx.(core.SessionStore).CreateSession(ctx, &core.StoredSession{Token: core.Secret(fmt.Sprint("s", i)), UserID: "u", Expires: time.Now()}); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.SessionAndUser(ctx, "s77"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
