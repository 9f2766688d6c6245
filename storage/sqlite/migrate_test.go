package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/latchkey-go/latchkey/storage/sqlite"
	sqlitedriver "modernc.org/sqlite"
)

// TestInterruptedAtTheStart checks a migration that is cancelled just as its BEGIN succeeds. The driver then reports an
// interruption although the statement has run. The connection must keep no transaction and no lock.
func TestInterruptedAtTheStart(t *testing.T) {
	path := file(t)
	inner, err := sqlitedriver.NewConnector(sqlite.DSN(path))
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(interrupting{inner})
	t.Cleanup(func() { _ = db.Close() })
	interrupted, err := sqlite.New(db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := interrupted.Migrate(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v, want that the context has ended", err)
	}
	open(t, path) // it migrates
}

// interrupting are connections that begin a migration and report that it was interrupted.
type interrupting struct{ driver.Connector }

func (i interrupting) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := i.Connector.Connect(ctx)
	return interruptedConn{conn}, err
}

type interruptedConn struct{ driver.Conn }

func (c interruptedConn) QueryContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (driver.Rows, error) {
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

func (c interruptedConn) ExecContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (driver.Result, error) {
	result, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	if query == "BEGIN IMMEDIATE" && err == nil {
		return nil, context.DeadlineExceeded
	}
	return result, err
}
