package sqlite_test

import (
	"database/sql"
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// TestMissing checks that Missing lists what Migrate would create, and creates nothing.
func TestMissing(t *testing.T) {
	for _, row := range []struct {
		name, statement string
		want            []string
	}{
		{"nothing", "SELECT 1", nil},
		{"a table", "DROP TABLE latchkey_records", []string{"table latchkey_records"}},
		{"an index that keeps addresses apart", "DROP INDEX users_email",
			[]string{"table users: unique index over email"}},
		{"a column of ours", "ALTER TABLE users DROP COLUMN extra", []string{"table users: column extra"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := t.TempDir() + "/app.db"
			s, err := sqlite.Open(path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			all, err := s.Missing(t.Context())
			if err != nil || !slices.Contains(all, "table users") || !slices.Contains(all, "table sessions") {
				t.Fatalf("before Migrate: %q, %v", all, err)
			}
			if err := s.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", sqlite.DSN(path))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			if _, err := db.ExecContext(t.Context(), row.statement); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the first call changes nothing
				if got, err := s.Missing(t.Context()); err != nil || !slices.Equal(got, row.want) {
					t.Errorf("got %q, %v", got, err)
				}
			}
		})
	}
}
