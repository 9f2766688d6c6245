package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core/store"
)

// runner runs statements, on the handle or within a transaction. Each part of a Store has a copy.
type runner struct {
	*engine
	tx *transaction // nil outside transactions
}

// target is the handle or a transaction.
type target interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (r *runner) target() target {
	if r.tx != nil {
		return r.tx
	}
	return r.db
}

// exec runs a statement and returns the number of rows that it changed.
func (r *runner) exec(ctx context.Context, operation string, st *statement, args ...any) (n int64, err error) {
	result, err := r.execute(ctx, operation, st, args)
	if err != nil || result == nil {
		return 0, err
	}
	n, err = result.RowsAffected()
	return n, r.failed(ctx, operation, err, nil)
}

// execute runs a statement. The result is nil if the statement can have no effect.
func (r *runner) execute(
	ctx context.Context, operation string, st *statement, args []any,
) (result sql.Result, err error) {
	if skip, err := r.storable(operation, st.kind, args); skip || err != nil {
		return nil, err
	}
	started := time.Now()
	if err := r.enter(ctx, st.kind); err != nil {
		return nil, r.failed(ctx, operation, err, nil)
	}
	defer r.leave(st.kind)
	err = r.retrying(ctx, started, func() error {
		if err := r.findForm(ctx, st, args); err != nil {
			return err
		}
		if r.dialect.DriverPrepares {
			result, err = r.target().ExecContext(ctx, st.text, r.orderedArgs(st, args)...)
			return err
		}
		p, err := r.prepared(ctx, st)
		if err == nil {
			result, err = p.ExecContext(ctx, r.orderedArgs(st, args)...)
		}
		return err
	})
	return result, r.failed(ctx, operation, err, args)
}

// must is exec for a statement that must change a row. It returns ErrNotFound if there is none.
func (r *runner) must(ctx context.Context, operation string, st *statement, args ...any) error {
	n, err := r.exec(ctx, operation, st, args...)
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// found is must for an update. If the database may count only changed rows, found checks whether an unchanged row
// exists.
func (r *runner) found(ctx context.Context, operation string, st, look *statement, keys int, args ...any) error {
	n, err := r.exec(ctx, operation, st, args...)
	if err != nil || n > 0 {
		return err
	}
	if !r.dialect.ChangedRows {
		return store.ErrNotFound
	}
	there, err := r.each(ctx, operation, look, args[len(args)-keys:], func(Rows) error { return nil })
	if err == nil && there == 0 {
		err = store.ErrNotFound
	}
	return err
}

// prepared returns a prepared statement for the handle or the transaction.
func (r *runner) prepared(ctx context.Context, st *statement) (*sql.Stmt, error) {
	if r.tx == nil {
		return st.prepared(ctx, r.db)
	}
	if r.tx.ended.Load() {
		return nil, sql.ErrTxDone
	}
	if p := st.ready.Load(); p != nil {
		return r.tx.StmtContext(ctx, p), nil
	}
	return r.tx.PrepareContext(ctx, st.text) // it could not be prepared before the transaction; this returns the reason
}

// query runs a statement and returns its rows.
func query[T any](
	ctx context.Context, r *runner, operation string, st *statement, read func(Rows) (T, error), args ...any,
) (list []T, err error) {
	n, err := r.each(ctx, operation, st, args, func(rows Rows) error {
		row, err := read(rows)
		list = append(list, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list[len(list)-n:], nil // without the rows of attempts that the database has undone
}

// each runs a statement and reads its rows to the end: only then has the database completed the statement. It returns
// the number of rows. If the database undoes the statement, each retries, and read sees the rows of both attempts.
func (r *runner) each(
	ctx context.Context, operation string, st *statement, args []any, read func(Rows) error,
) (n int, err error) {
	if skip, err := r.storable(operation, st.kind, args); skip || err != nil {
		return 0, err
	}
	started := time.Now()
	if err := r.enter(ctx, st.kind); err != nil {
		return 0, r.failed(ctx, operation, err, nil)
	}
	defer r.leave(st.kind)
	for a := (attempt{runner: r, started: started}); ; { // retrying, inlined to save calls: every session lookup runs this
		if err = r.findForm(ctx, st, args); err == nil {
			n, err = r.eachOnce(ctx, st, args, read)
		}
		if !a.again(ctx, err) {
			return n, r.failed(ctx, operation, err, args)
		}
	}
}

func (r *runner) eachOnce(ctx context.Context, st *statement, args []any, read func(Rows) error) (n int, err error) {
	rows, err := r.rows(ctx, st, args)
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	for ; rows.Next(); n++ {
		if err := read(rows); err != nil {
			return 0, err
		}
	}
	return n, rows.Err()
}

// rows starts a query, with as few layers as possible.
func (r *runner) rows(ctx context.Context, st *statement, args []any) (Rows, error) {
	args = r.orderedArgs(st, args)
	if st.kind == reads && r.tx == nil && r.dialect.Read != nil {
		return r.dialect.Read(ctx, st.text, args)
	}
	if r.dialect.DriverPrepares {
		return r.target().QueryContext(ctx, st.text, args...)
	}
	p, err := r.prepared(ctx, st)
	if err != nil {
		return nil, err
	}
	return p.QueryContext(ctx, args...)
}

// one is query for a single row. It returns ErrNotFound if there is none.
func one[T any](
	ctx context.Context, r *runner, operation string, st *statement, read func(Rows) (T, error), args ...any,
) (row T, err error) {
	n, err := r.each(ctx, operation, st, args, func(rows Rows) (err error) {
		row, err = read(rows)
		return err
	})
	if err == nil && n == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		var none T
		return none, err
	}
	return row, nil
}

// take deletes a row and returns it. If the database does not support RETURNING, take reads the row first, and the
// number of deleted rows decides which concurrent call gets it.
func take[T any](
	ctx context.Context, r *runner, operation string, look, remove *statement,
	read func(Rows) (T, error), args ...any,
) (row T, err error) {
	if r.dialect.Returning {
		return one(ctx, r, operation, remove, read, args...)
	}
	if row, err = one(ctx, r, operation, look, read, args...); err != nil {
		return row, err
	}
	if err = r.must(ctx, operation, remove, args...); err != nil {
		var none T
		return none, err
	}
	return row, nil
}

// storable rejects texts that the database would change, or that other tools would truncate. If the statement only
// searches for the text, skip reports that there is no result.
func (r *runner) storable(operation string, k kind, args []any) (skip bool, err error) {
	for _, arg := range args {
		if _, impossible := arg.(noID); impossible {
			return true, nil
		}
		text, ok := arg.(string)
		if !ok || strings.IndexByte(text, 0) < 0 && utf8.ValidString(text) {
			continue
		}
		if k != writes {
			return true, nil
		}
		return false, fmt.Errorf("%s: %s: a text contains a NUL byte or is not valid UTF-8 "+
			"and cannot be stored: validate it first", r.dialect.Name, operation)
	}
	return false, nil
}
