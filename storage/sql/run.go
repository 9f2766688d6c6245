package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/sqlpool"
)

// target is the handle or a transaction.
type target interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (s *Store) target() target {
	if s.tx != nil {
		return s.tx
	}
	return s.db
}

// run calls attempt with the values in the order of the placeholders, until the statement has succeeded or there is no
// further attempt. It does not call attempt if the statement can have no effect.
func (s *Store) run(
	ctx context.Context, operation string, st *statement, args []any, attempt func(args []any) error,
) error {
	if skip, err := s.storable(operation, st.kind, args); skip || err != nil {
		return err
	}
	started := time.Now()
	if err := s.enter(ctx, st.kind); err != nil {
		return s.failed(ctx, operation, err, nil)
	}
	defer s.leave(st.kind)
	err := s.retrying(ctx, started, func() error {
		if err := s.findForm(ctx, st, args); err != nil {
			return err
		}
		return attempt(s.orderedArgs(st, args))
	})
	return s.failed(ctx, operation, err, args)
}

// orderedArgs returns the values in the order of the placeholders.
func (e *engine) orderedArgs(s *statement, args []any) []any {
	out := make([]any, len(s.args))
	for i, n := range s.args {
		if n == textForm {
			out[i] = e.form() != MillisTimes
			continue
		}
		out[i] = args[n]
		if at, ok := out[i].(moment); ok {
			out[i] = written(int64(at), e.form())
		}
	}
	return out
}

// execute runs a statement. The result is nil if the statement can have no effect.
func (s *Store) execute(
	ctx context.Context, operation string, st *statement, args []any,
) (result sql.Result, err error) {
	err = s.run(ctx, operation, st, args, func(args []any) error {
		if s.dialect.DriverPrepares {
			result, err = s.target().ExecContext(ctx, st.text, args...)
			return err
		}
		p, err := s.prepared(ctx, st)
		if err == nil {
			result, err = p.ExecContext(ctx, args...)
		}
		return err
	})
	return result, err
}

// exec runs a statement and returns the number of rows that it changed.
func (s *Store) exec(ctx context.Context, operation string, st *statement, args ...any) (n int64, err error) {
	result, err := s.execute(ctx, operation, st, args)
	if err != nil || result == nil {
		return 0, err
	}
	n, err = result.RowsAffected()
	return n, s.failed(ctx, operation, err, nil)
}

// execOne is exec for a statement that must change a row. It returns ErrNotFound if there is none.
func (s *Store) execOne(ctx context.Context, operation string, st *statement, args ...any) error {
	n, err := s.exec(ctx, operation, st, args...)
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// updateOne is execOne for an update. If the database may count only changed rows, it checks whether an unchanged row
// exists. The last keys values of args are the key.
func (s *Store) updateOne(ctx context.Context, operation string, st, look *statement, keys int, args ...any) error {
	n, err := s.exec(ctx, operation, st, args...)
	if err != nil || n > 0 {
		return err
	}
	if !s.dialect.ChangedRows {
		return store.ErrNotFound
	}
	there, err := s.queryEach(ctx, operation, look, args[len(args)-keys:], func(sqlpool.Rows) error { return nil })
	if err == nil && there == 0 {
		err = store.ErrNotFound
	}
	return err
}

// prepared returns a prepared statement for the handle or the transaction.
func (s *Store) prepared(ctx context.Context, st *statement) (*sql.Stmt, error) {
	if s.tx == nil {
		return st.prepared(ctx, s.db)
	}
	if s.tx.ended.Load() {
		return nil, sql.ErrTxDone
	}
	if p := st.ready.Load(); p != nil {
		return s.tx.StmtContext(ctx, p), nil
	}
	return s.tx.PrepareContext(ctx, st.text) // it could not be prepared before the transaction; this returns the reason
}

// query runs a statement and returns its rows.
func query[T any](
	ctx context.Context, s *Store, operation string, st *statement, read func(sqlpool.Rows) (T, error), args ...any,
) (list []T, err error) {
	n, err := s.queryEach(ctx, operation, st, args, func(rows sqlpool.Rows) error {
		row, err := read(rows)
		list = append(list, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list[len(list)-n:], nil // without the rows of attempts that the database has undone
}

// queryEach runs a statement and reads its rows to the end: only then has the database completed the statement. It
// returns the number of rows. If the database undoes the statement, queryEach retries, and read sees the rows of both
// attempts.
func (s *Store) queryEach(
	ctx context.Context, operation string, st *statement, args []any, read func(sqlpool.Rows) error,
) (n int, err error) {
	err = s.run(ctx, operation, st, args, func(args []any) (err error) {
		n, err = s.queryAttempt(ctx, st, args, read)
		return err
	})
	return n, err
}

func (s *Store) queryAttempt(
	ctx context.Context, st *statement, args []any, read func(sqlpool.Rows) error,
) (n int, err error) {
	rows, err := s.rows(ctx, st, args)
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

// rows starts a query.
func (s *Store) rows(ctx context.Context, st *statement, args []any) (sqlpool.Rows, error) {
	if st.kind == reads && s.tx == nil && s.pool.Query != nil {
		return s.pool.Query(ctx, st.text, args)
	}
	if s.dialect.DriverPrepares {
		return s.target().QueryContext(ctx, st.text, args...)
	}
	p, err := s.prepared(ctx, st)
	if err != nil {
		return nil, err
	}
	return p.QueryContext(ctx, args...)
}

// queryOne is query for a single row. It returns ErrNotFound if there is none.
func queryOne[T any](
	ctx context.Context, s *Store, operation string, st *statement, read func(sqlpool.Rows) (T, error), args ...any,
) (row T, err error) {
	n, err := s.queryEach(ctx, operation, st, args, func(rows sqlpool.Rows) (err error) {
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

// deleteOne deletes a row and returns it. If the database does not support RETURNING, it reads the row first, and the
// number of deleted rows decides which concurrent call gets it.
func deleteOne[T any](
	ctx context.Context, s *Store, operation string, look, remove *statement,
	read func(sqlpool.Rows) (T, error), args ...any,
) (row T, err error) {
	if s.dialect.Returning {
		return queryOne(ctx, s, operation, remove, read, args...)
	}
	if row, err = queryOne(ctx, s, operation, look, read, args...); err != nil {
		return row, err
	}
	if err = s.execOne(ctx, operation, remove, args...); err != nil {
		var none T
		return none, err
	}
	return row, nil
}

// storable rejects texts that the database would change, or that other tools would truncate. If the statement only
// searches for the text, skip reports that there is no result.
func (s *Store) storable(operation string, k kind, args []any) (skip bool, err error) {
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
			"and cannot be stored: validate it first", s.dialect.Name, operation)
	}
	return false, nil
}
