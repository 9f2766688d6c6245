package sqlite

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	driver "modernc.org/sqlite"

	"github.com/latchkey-go/latchkey/core/store"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// oneReader returns readers with a single connection, and a query for it.
func oneReader(t *testing.T) (*readers, string) {
	t.Helper()
	connector, err := driver.NewConnector(DSN(filepath.Join(t.TempDir(), "app.db")))
	if err != nil {
		t.Fatal(err)
	}
	r := newReaders(connector, 1)
	t.Cleanup(func() { _ = r.Close() })
	return r, "SELECT ? UNION ALL SELECT 2"
}

func TestReadersWait(t *testing.T) {
	r, query := oneReader(t)
	held, err := r.read(t.Context(), query, []any{int64(1)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.read(ctx, query, []any{int64(1)}); !errors.Is(err, context.Canceled) {
		t.Errorf("while the only connection is in use: error %v", err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 { // each returns the connection, whatever the result
		for query, args := range map[string][]any{
			query:                  {int64(1)},
			"SELECT * FROM nobody": nil,
			"SELECT ?":             {struct{}{}},
			"SELECT ? AS missing":  nil,
		} {
			if found, err := r.read(t.Context(), query, args); err == nil {
				_ = found.Close()
			}
		}
	}
}

func TestReadersHearTheContext(t *testing.T) {
	r, query := oneReader(t)
	ctx, cancel := context.WithCancel(t.Context())
	found, err := r.read(ctx, query, []any{int64(1)})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if !found.Next() || found.Scan(&n) != nil || n != 1 {
		t.Fatalf("the first row: %d, %v", n, found.Err())
	}
	cancel()
	if found.Next() || !errors.Is(found.Err(), context.Canceled) {
		t.Errorf("after the context has ended: %v", found.Err())
	}
	if err := found.Close(); err != nil {
		t.Error(err)
	}
}

// TestReadersForget checks that a connection keeps no values of a finished lookup, and that closed rows read nothing of
// the next lookup.
func TestReadersForget(t *testing.T) {
	r, query := oneReader(t)
	found, err := r.read(t.Context(), query, []any{int64(1)})
	if err != nil || !found.Next() {
		t.Fatal(err)
	}
	if err := found.Close(); err != nil {
		t.Fatal(err)
	}
	one := r.idle[0]
	if one.args[0].Value != nil || one.values[0] != nil {
		t.Errorf("the connection holds %v and %v", one.args[0].Value, one.values[0])
	}
	next, err := r.read(t.Context(), query, []any{int64(7)})
	if err != nil || !next.Next() {
		t.Fatal(err)
	}
	defer func() { _ = next.Close() }()
	var n int
	if err := found.Scan(&n); err == nil {
		t.Errorf("closed rows read %d", n)
	}
}

func TestReadersClose(t *testing.T) {
	r, query := oneReader(t)
	found, err := r.read(t.Context(), query, []any{int64(1)})
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	inUse := found.(*rows).reader
	inUse.conn = noted{inUse.conn, &closed}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if !found.Next() { // rows that were started can be read
		t.Error(found.Err())
	}
	if err := found.Close(); err != nil {
		t.Error(err)
	}
	if !closed {
		t.Error("a connection that was in use stays open")
	}
	if _, err := r.read(t.Context(), query, []any{int64(1)}); !errors.Is(err, errClosed) {
		t.Errorf("error %v", err)
	}
}

// noted records that it was closed.
type noted struct {
	sqldriver.Conn
	closed *bool
}

func (n noted) Close() error {
	*n.closed = true
	return n.Conn.Close()
}

func TestReadersScan(t *testing.T) {
	r, _ := oneReader(t)
	found, err := r.read(t.Context(), "SELECT NULL, 'x', 300, 1, 2, 3, 4, 5, 6", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = found.Close() }()
	if !found.Next() {
		t.Fatal(found.Err())
	}
	var text string
	var number int
	var large int64
	var truth bool
	var small uint32
	all := []any{new(sqlstore.Times), &text, &number, &truth, &small, &large, &number, &number, &number}
	for name, change := range map[string]func([]any){
		"another type":           func([]any) {},
		"null":                   func(into []any) { into[0] = &text },
		"a text for a number":    func(into []any) { into[0], into[1] = new(whatever), &number },
		"a number for a boolean": func(into []any) { into[0], into[2] = new(whatever), &truth },
	} {
		into := append([]any(nil), all...)
		if change(into); found.Scan(into...) == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if err := found.Scan(&text); err == nil {
		t.Error("one destination for nine columns")
	}
	all[0] = new(whatever)
	err = found.Scan(all...)
	if err != nil || text != "x" || !truth || small != 2 || large != 3 || number != 6 {
		t.Errorf("%v: %q, %v, %d, %d, %d", err, text, truth, small, large, number)
	}
}

// whatever scans any value.
type whatever struct{}

func (*whatever) Scan(any) error { return nil }

// quiet is a context whose Done must not be called, because it may allocate a timer.
type quiet struct {
	context.Context
	t *testing.T
}

func (q quiet) Done() <-chan struct{} {
	q.t.Error("its channel was asked for")
	return q.Context.Done()
}

func TestReadersDoNotWaitForTheContext(t *testing.T) {
	r, query := oneReader(t)
	for round := range 2 { // a connection is created once
		ctx := context.Context(quiet{t.Context(), t})
		if round == 0 {
			ctx = t.Context()
		}
		found, err := r.read(ctx, query, []any{int64(1)})
		if err != nil {
			t.Fatal(err)
		}
		for found.Next() {
		}
		if err := found.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLookupsStartNothing checks that a lookup with a deadline costs the same as one without, because nothing watches
// the context.
func TestLookupsStartNothing(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "app.db"))
	if err == nil {
		err = s.Migrate(t.Context())
	}
	if err == nil {
		_, err = s.CreateUser(t.Context(), &store.User{ID: "ada"})
	}
	if err == nil {
		err = s.CreateSession(t.Context(), &store.Session{Token: "s", UserID: "ada", Expires: time.Unix(1<<31, 0)})
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	count := func(ctx context.Context) float64 {
		return testing.AllocsPerRun(100, func() {
			if _, _, err := s.SessionAndUser(ctx, "s"); err != nil {
				t.Fatal(err)
			}
		})
	}
	if with, without := count(ctx), count(context.Background()); with > without {
		t.Errorf("%v allocations under a deadline, %v without one", with, without)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.SessionAndUser(ctx, "s"); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after Close: %v", err)
	}
}
