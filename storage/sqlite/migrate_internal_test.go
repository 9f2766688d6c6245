package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// TestMigrationOfAnotherProcess: while another process migrates, a table can appear without its columns. Migrate waits
// for the other process and looks again. A column that is missing then is an error, and if Migrate cannot wait, it
// returns what it saw.
func TestMigrationOfAnotherProcess(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		finish string // by the other process, before it releases its lock
		lock   error
		want   string
	}{
		"finished":        {finish: "DROP TABLE accounts"},
		"still missing":   {want: "there is no column userId"},
		"no lock is free": {lock: errors.New("read-only"), want: "there is no column userId"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "auth.db"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			if _, err := db.ExecContext(t.Context(), "CREATE TABLE accounts (id text)"); err != nil {
				t.Fatal(err)
			}
			d := dialect()
			migrating := d.Migrating
			d.Migrating = func(ctx context.Context, conn *sql.Conn, do func() error) error {
				if row.lock != nil {
					return row.lock
				}
				if _, err := conn.ExecContext(ctx, row.finish); err != nil {
					return err
				}
				return migrating(ctx, conn, do)
			}
			s, err := sqlstore.New(db, d, sqlstore.Layout{})
			if err != nil {
				t.Fatal(err)
			}
			err = s.Migrate(t.Context())
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}
