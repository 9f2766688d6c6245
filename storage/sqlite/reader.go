package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"

	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// readers are connections that only look-ups use. Each belongs to one look-up at a time, which runs it on the driver
// itself: around a query that takes some microseconds database/sql starts a goroutine, and the driver another one, only
// to hear that the context has ended.
type readers struct {
	connector driver.Connector
	turns     chan struct{} // holds one value for each connection in use

	mu     sync.Mutex
	idle   []*reader // the one that was used last is the next: it has the pages of the file at hand
	closed bool
}

func newReaders(connector driver.Connector, connections int) *readers {
	return &readers{connector: connector, turns: make(chan struct{}, connections)}
}

// reader is a connection with the statements that it has prepared.
type reader struct {
	conn     driver.Conn
	prepared map[string]driver.StmtQueryContext

	// What most look-ups need, who have the connection for themselves.
	args   [1]driver.NamedValue
	values [9]driver.Value
}

// errClosed is what a look-up on a closed store ends with, as database/sql words it.
var errClosed = errors.New("sql: database is closed")

// read implements [sqlstore.Dialect.Read]. The context counts while it waits for a connection and between rows. Within
// a row it does not: a look-up by a key is over before anybody could interrupt it, and a lock is waited for no longer
// than busy_timeout says.
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

// wait waits until a connection is free. The context is asked for its channel, which may cost it a timer, only where
// none is.
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

// take is an idle connection, or a new one.
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

// give takes a connection back, which forgets what was read.
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

// Close closes the connections, those in use when they are given back.
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

// query begins a query. Its statement is prepared when a connection meets it first.
func (one *reader) query(query string, args []driver.NamedValue) (driver.Rows, error) {
	st := one.prepared[query]
	if st == nil {
		made, err := one.conn.Prepare(query)
		if err != nil {
			return nil, err
		}
		var ok bool
		if st, ok = made.(driver.StmtQueryContext); !ok {
			return nil, errors.Join(errors.New("the driver's statements take no context"), made.Close())
		}
		one.prepared[query] = st
	}
	return st.QueryContext(context.Background(), args) // one that never ends needs nobody to watch it
}

func (one *reader) close() error {
	var errs []error
	for _, st := range one.prepared {
		errs = append(errs, st.(driver.Stmt).Close())
	}
	return errors.Join(append(errs, one.conn.Close())...)
}
