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

// runner runs statements, on the handle or within a transaction. The parts of a Store have a copy each.
type runner struct {
	*engine
	tx *transaction // nil outside transactions
}

// target is what statements run on: the handle or a transaction.
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

// exec runs a statement and returns how many rows it changed.
func (r *runner) exec(ctx context.Context, operation string, st *statement, args ...any) (n int64, err error) {
	result, err := r.execute(ctx, operation, st, args)
	if err != nil || result == nil {
		return 0, err
	}
	n, err = result.RowsAffected()
	return n, r.failed(ctx, operation, err, nil)
}

// execute runs a statement; the result is nil when it can have no effect.
func (r *runner) execute(
	ctx context.Context, operation string, st *statement, args []any,
) (result sql.Result, err error) {
	if skip, err := r.storable(operation, st.kind, args); skip || err != nil {
		return nil, err
	}
	came := time.Now()
	if err := r.enter(ctx, st.kind); err != nil {
		return nil, r.failed(ctx, operation, err, nil)
	}
	defer r.leave(st.kind)
	err = r.retrying(ctx, came, func() error {
		if err := r.findForm(ctx, st, args); err != nil {
			return err
		}
		if r.dialect.DriverPrepares {
			result, err = r.target().ExecContext(ctx, st.text, r.placed(st, args)...)
			return err
		}
		p, err := r.prepared(ctx, st)
		if err == nil {
			result, err = p.ExecContext(ctx, r.placed(st, args)...)
		}
		return err
	})
	return result, r.failed(ctx, operation, err, args)
}

// must is exec for a statement that changes a row, or there is none.
func (r *runner) must(ctx context.Context, operation string, st *statement, args ...any) error {
	n, err := r.exec(ctx, operation, st, args...)
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// found is must for an update. Where the handle may count only changed rows, a row that was left as it was is looked
// for.
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

// prepared returns a statement for where this Store works.
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
	return r.tx.PrepareContext(ctx, st.text) // it could not be prepared before the transaction; here it says why
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
	return list[len(list)-n:], nil // without what attempts have read that the engine undid
}

// each runs a statement and reads its rows to the end, which is when an engine has done all that the statement does. It
// returns how many there were. Where the engine undoes it, read sees the rows of the next attempt too.
func (r *runner) each(
	ctx context.Context, operation string, st *statement, args []any, read func(Rows) error,
) (n int, err error) {
	if skip, err := r.storable(operation, st.kind, args); skip || err != nil {
		return 0, err
	}
	came := time.Now()
	if err := r.enter(ctx, st.kind); err != nil {
		return 0, r.failed(ctx, operation, err, nil)
	}
	defer r.leave(st.kind)
	for a := (attempt{runner: r, came: came}); ; { // retrying with fewer calls: every look-up of a session comes here
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

// rows begins a query, by the shortest way that there is.
func (r *runner) rows(ctx context.Context, st *statement, args []any) (Rows, error) {
	args = r.placed(st, args)
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

// one is query for a row that is there, or there is none.
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

// take removes a row and returns it. Where the engine cannot do both at once, the row is read first and the count of
// removed rows decides which call got it.
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

// storable refuses texts that would come back changed, or cut off by other tools. Where they are only looked for, skip
// says that nothing can be found.
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
		return false, fmt.Errorf("%s: %s: a text holds a NUL byte or is not valid UTF-8, "+
			"which cannot be stored: validate it before", r.dialect.Name, operation)
	}
	return false, nil
}
