package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"

	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// readers are connections for lookups only. A lookup uses one connection at a time and calls the driver directly: for a
// query of a few microseconds, database/sql and the driver each start a goroutine only to watch the context.
type readers struct {
	connector driver.Connector
	turns     chan struct{} // contains a value for each connection in use

	mu     sync.Mutex
	idle   []*reader // the last is used next: its page cache is warm
	closed bool
}

func newReaders(connector driver.Connector, connections int) *readers {
	return &readers{connector: connector, turns: make(chan struct{}, connections)}
}

// reader is a connection and its prepared statements.
type reader struct {
	conn     driver.Conn
	prepared map[string]driver.StmtQueryContext

	// Buffers for the current lookup.
	args   [1]driver.NamedValue
	values [9]driver.Value
}

// errClosed is the error of a lookup on a closed store, with the text of database/sql.
var errClosed = errors.New("sql: database is closed")

// read implements [sqlstore.Dialect.Read]. The context is checked during the wait for a connection and between rows,
// but not within a row: a lookup by key ends before it could be interrupted, and the wait for a lock is limited by
// busy_timeout.
func (r *readers) read(ctx context.Context, query string, args []any) (sqlstore.Rows, error) {
	if err := r.wait(ctx); err != nil {
		return nil, err
	}
	one, err := r.take(ctx)
	if err != nil {
		<-r.turns
		return nil, err
	}
	found := &rows{ctx: ctx, from: r, reader: one}
	if err := found.begin(query, args); err != nil {
		r.give(one)
		return nil, err
	}
	return found, nil
}

// wait waits for a free connection. It calls ctx.Done, which may allocate a timer, only if all are in use.
func (r *readers) wait(ctx context.Context) error {
	select {
	case r.turns <- struct{}{}:
		return nil
	default:
	}
	select {
	case r.turns <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take returns an idle connection or a new one.
func (r *readers) take(ctx context.Context) (*reader, error) {
	r.mu.Lock()
	closed, n := r.closed, len(r.idle)
	if !closed && n > 0 {
		one := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return one, nil
	}
	r.mu.Unlock()
	if closed {
		return nil, errClosed
	}
	conn, err := r.connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &reader{conn: conn, prepared: map[string]driver.StmtQueryContext{}}, nil
}

// give returns a connection to the idle list and clears its buffers.
func (r *readers) give(one *reader) {
	clear(one.args[:])
	clear(one.values[:])
	r.mu.Lock()
	closed := r.closed
	if !closed {
		r.idle = append(r.idle, one)
	}
	r.mu.Unlock()
	if closed {
		_ = one.close()
	}
	<-r.turns
}

// Close closes the idle connections. Those in use are closed when they are returned.
func (r *readers) Close() error {
	r.mu.Lock()
	idle := r.idle
	r.idle, r.closed = nil, true
	r.mu.Unlock()
	var errs []error
	for _, one := range idle {
		errs = append(errs, one.close())
	}
	return errors.Join(errs...)
}

// query starts a query. It prepares the statement on first use.
func (one *reader) query(query string, args []driver.NamedValue) (driver.Rows, error) {
	st := one.prepared[query]
	if st == nil {
		made, err := one.conn.Prepare(query)
		if err != nil {
			return nil, err
		}
		var ok bool
		if st, ok = made.(driver.StmtQueryContext); !ok {
			return nil, errors.Join(errors.New("the driver's statements do not support contexts"), made.Close())
		}
		one.prepared[query] = st
	}
	return st.QueryContext(context.Background(), args) // context.Background makes the driver start no goroutine
}

func (one *reader) close() error {
	var errs []error
	for _, st := range one.prepared {
		errs = append(errs, st.(driver.Stmt).Close())
	}
	return errors.Join(append(errs, one.conn.Close())...)
}
