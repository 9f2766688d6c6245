package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core/store"
)

// attempts is how often a statement is tried that the engine undid.
const attempts = 5

// longestPause is how long a transaction that the engine undid waits at most before its first repetition; twice as long
// before each that follows.
const longestPause = 8 * time.Millisecond

// How long the store waits for a lock that another process holds, and how long between two looks.
const (
	patience = 5 * time.Second
	pause    = 10 * time.Millisecond
)

// retrying runs do again when the engine undid it because of a concurrent transaction, which within a transaction only
// the caller can; and while another process holds the lock, as long as the context allows: an engine that waits by
// itself does not look at it. Patience is counted from the call's beginning, so that calls in a queue do not each wait
// for that lock anew.
func (s *Store) retrying(ctx context.Context, came time.Time, do func() error) error {
	var enough <-chan time.Time
	for n := 1; ; {
		err := do()
		switch {
		case err == nil || s.tx != nil:
			return err
		case s.dialect.Busy != nil && s.dialect.Busy(err):
			if enough == nil {
				enough = time.After(patience - time.Since(came))
			}
			select {
			case <-ctx.Done():
				return err
			case <-enough:
				return err
			case <-time.After(pause):
			}
		case n == attempts || !s.dialect.Retry(err):
			return err
		default:
			n++
		}
	}
}

// target is what statements run on: the handle or a transaction.
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

// exec runs a statement and returns how many rows it changed.
func (s *Store) exec(ctx context.Context, operation string, st *statement, args ...any) (n int64, err error) {
	result, err := s.execute(ctx, operation, st, args)
	if err != nil || result == nil {
		return 0, err
	}
	n, err = result.RowsAffected()
	return n, s.failed(ctx, operation, err, nil)
}

// execute runs a statement; the result is nil when it can have no effect.
func (s *Store) execute(
	ctx context.Context, operation string, st *statement, args []any,
) (result sql.Result, err error) {
	if skip, err := s.storable(operation, st.kind, args); skip || err != nil {
		return nil, err
	}
	came := time.Now()
	if err := s.enter(ctx, st.kind); err != nil {
		return nil, s.failed(ctx, operation, err, nil)
	}
	defer s.leave(st.kind)
	err = s.retrying(ctx, came, func() error {
		if err := s.findForm(ctx, st, args); err != nil {
			return err
		}
		if s.dialect.DriverPrepares {
			result, err = s.target().ExecContext(ctx, st.text, s.placed(st, args)...)
			return err
		}
		p, err := s.prepared(ctx, st)
		if err == nil {
			result, err = p.ExecContext(ctx, s.placed(st, args)...)
		}
		return err
	})
	return result, s.failed(ctx, operation, err, args)
}

// must is exec for a statement that changes a row, or there is none.
func (s *Store) must(ctx context.Context, operation string, st *statement, args ...any) error {
	n, err := s.exec(ctx, operation, st, args...)
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// found is must for an update. Where the handle may count only changed rows, a row that was left as it was is looked
// for.
func (s *Store) found(ctx context.Context, operation string, st, look *statement, keys int, args ...any) error {
	n, err := s.exec(ctx, operation, st, args...)
	if err != nil || n > 0 {
		return err
	}
	if !s.dialect.ChangedRows {
		return store.ErrNotFound
	}
	there, err := s.each(ctx, operation, look, args[len(args)-keys:], func(Rows) error { return nil })
	if err == nil && there == 0 {
		err = store.ErrNotFound
	}
	return err
}

// prepared returns a statement for where this Store works.
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
	return s.tx.PrepareContext(ctx, st.text) // it could not be prepared before the transaction; here it says why
}

// query runs a statement and returns its rows.
func query[T any](
	ctx context.Context, s *Store, operation string, st *statement, read func(Rows) (T, error), args ...any,
) (list []T, err error) {
	n, err := s.each(ctx, operation, st, args, func(rows Rows) error {
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
func (s *Store) each(
	ctx context.Context, operation string, st *statement, args []any, read func(Rows) error,
) (n int, err error) {
	if skip, err := s.storable(operation, st.kind, args); skip || err != nil {
		return 0, err
	}
	came := time.Now()
	if err := s.enter(ctx, st.kind); err != nil {
		return 0, s.failed(ctx, operation, err, nil)
	}
	defer s.leave(st.kind)
	err = s.retrying(ctx, came, func() (err error) {
		if err = s.findForm(ctx, st, args); err == nil {
			n, err = s.eachOnce(ctx, st, args, read)
		}
		return err
	})
	return n, s.failed(ctx, operation, err, args)
}

func (s *Store) eachOnce(ctx context.Context, st *statement, args []any, read func(Rows) error) (n int, err error) {
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

// rows begins a query, by the shortest way that there is.
func (s *Store) rows(ctx context.Context, st *statement, args []any) (Rows, error) {
	args = s.placed(st, args)
	if st.kind == reads && s.tx == nil && s.dialect.Read != nil {
		return s.dialect.Read(ctx, st.text, args)
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

// one is query for a row that is there, or there is none.
func one[T any](
	ctx context.Context, s *Store, operation string, st *statement, read func(Rows) (T, error), args ...any,
) (row T, err error) {
	n, err := s.each(ctx, operation, st, args, func(rows Rows) (err error) {
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
	ctx context.Context, s *Store, operation string, look, remove *statement,
	read func(Rows) (T, error), args ...any,
) (row T, err error) {
	if s.dialect.Returning {
		return one(ctx, s, operation, remove, read, args...)
	}
	if row, err = one(ctx, s, operation, look, read, args...); err != nil {
		return row, err
	}
	if err = s.must(ctx, operation, remove, args...); err != nil {
		var none T
		return none, err
	}
	return row, nil
}

// failed names the operation and turns the driver's errors into those of the contract. args are what was asked, which
// may be a token: an error of the driver that repeats one of them is not shown.
func (s *Store) failed(ctx context.Context, operation string, err error, args []any) error {
	switch {
	case err == nil || errors.Is(err, store.ErrNotFound):
	case s.dialect.Conflict(err):
		err = store.ErrConflict
	case s.dialect.NoParent(err):
		return fmt.Errorf("%s: %s: there is no such user: %w", s.dialect.Name, operation, store.ErrNotFound)
	default:
		passing := s.passing(err)
		if err = s.shown(err, args); passing {
			err = store.Unavailable(err)
		}
	}
	return store.OpError(ctx, s.dialect.Name, operation, err)
}

// passing reports whether an error is one that time mends.
func (s *Store) passing(err error) bool {
	d := &s.dialect
	return errors.Is(err, driver.ErrBadConn) || d.Retry(err) || d.Busy != nil && d.Busy(err) ||
		d.Unavailable != nil && d.Unavailable(err)
}

// shown says what to do where a table is missing, and hides a message that may repeat a value.
func (s *Store) shown(err error, args []any) error {
	missing := s.dialect.Missing(err)
	if s.dialect.Repeats != nil && s.dialect.Repeats(err) || repeats(err.Error(), args) {
		err = unshown{err}
	}
	if missing {
		return fmt.Errorf("a table or column is missing: call store.Migrate(ctx) at start-up, "+
			"which also puts back what a schema tool has dropped: %w", err)
	}
	return err
}

// repeats reports whether a message holds the beginning of a value: drivers cut long ones. Values as short as words are
// not looked for: they may be words of the message.
func repeats(message string, args []any) bool {
	for _, arg := range args {
		if text, ok := arg.(string); ok && len(text) >= 6 && strings.Contains(message, text[:min(len(text), 16)]) {
			return true
		}
	}
	return false
}

// unshown is an error that repeats a value. Who needs it finds it with errors.As.
type unshown struct{ err error }

func (unshown) Error() string {
	return "the engine refused a value, which its message repeats: it is left out here"
}
func (u unshown) Unwrap() error { return u.err }

// storable refuses texts that would come back changed, or cut off by other tools. Where they are only looked for, skip
// says that nothing can be found.
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
		return false, fmt.Errorf("%s: %s: a text holds a NUL byte or is not valid UTF-8, "+
			"which cannot be stored: validate it before", s.dialect.Name, operation)
	}
	return false, nil
}
