package sqlite_test

import (
	"database/sql"
	"os"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/storage/internal/sqltest"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// TestCleaningInBatches ends the context between two batches.
func TestCleaningInBatches(t *testing.T) {
	sqltest.Cleaning(t, open(t, file(t)))
}

// TestCleaningWritesTheLogBack checks that DeleteExpired runs a checkpoint between batches, so that no request must do
// it when the log has grown.
func TestCleaningWritesTheLogBack(t *testing.T) {
	path := file(t)
	db, err := sql.Open("sqlite", sqlite.DSN(path)+"&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	s, err := sqlite.New(db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	sqltest.Fill(t, s, 300)
	if _, err := db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeleteExpired(t.Context(), time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path) // without the log
	if err != nil {
		t.Fatal(err)
	}
	written := file(t)
	if err := os.WriteFile(written, content, 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := open(t, written).Sessions(t.Context(), "u0")
	if err != nil || len(list) > 0 {
		t.Errorf("the file without the log has %d sessions, error %v", len(list), err)
	}
}
