package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	driver "modernc.org/sqlite"
)

// TestReaders checks that lookups wait for a free connection as long as their context allows, and that every lookup
// returns its connection, also if it fails.
func TestReaders(t *testing.T) {
	connector, err := driver.NewConnector(DSN(filepath.Join(t.TempDir(), "app.db")))
	if err != nil {
		t.Fatal(err)
	}
	r := &readers{db: handleOf(connector, 1), turns: make(chan struct{}, 1)}
	defer func() { _ = r.db.Close() }()
	const query = "SELECT ?"
	using, err := r.read(t.Context(), query, []any{1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() {
		_, err := r.read(ctx, query, []any{1})
		waiting <- err
	}()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("while the only connection is in use: error %v", err)
	}
	if err := using.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if _, err := r.read(t.Context(), "SELECT * FROM missing", nil); err == nil {
			t.Error("no error for a missing table")
		}
		if _, err := r.read(t.Context(), query, []any{struct{}{}}); err == nil {
			t.Error("no error for an invalid value")
		}
		found, err := r.read(t.Context(), query, []any{2})
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if !found.Next() || found.Scan(&n) != nil || n != 2 {
			t.Errorf("read %d: %v", n, found.Err())
		}
		if err := found.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestClosedStore checks that Close closes the connections of lookups.
func TestClosedStore(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "app.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Migrate(t.Context()), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.SessionAndUser(t.Context(), "token"); err == nil || err.Error() !=
		"sqlite: read session: sql: database is closed" {
		t.Errorf("error %v", err)
	}
}
