package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// attempts is the maximum number of attempts at a statement that the database undoes.
const attempts = 5

// longestPause is the maximum pause before the first retry of a transaction. It doubles before each further retry.
const longestPause = 8 * time.Millisecond

// The maximum time to wait for a lock of another process, and the interval between attempts.
const (
	patience = 5 * time.Second
	pause    = 10 * time.Millisecond
)

// transaction is an open transaction.
type transaction struct {
	*sql.Tx
	ended atomic.Bool
}

// within is the context key for the current transaction of an engine.
type within struct{ *engine }

// inTransaction is InTransaction with an operation that names the errors of the transaction itself.
func (s *Store) inTransaction(
	ctx context.Context, operation string, do func(ctx context.Context, tx *Store) error,
) error {
	if s.tx != nil {
		return s.savepoint(ctx, operation, do)
	}
	started := time.Now()
	if err := s.enter(ctx, writes); err != nil {
		return s.failed(ctx, operation, err, nil)
	}
	defer s.leave(writes)
	if !s.dialect.DriverPrepares {
		s.prepareAll(ctx)
	}
	for n := 1; ; n++ {
		err := s.transact(ctx, operation, started, do)
		if err == nil || n == attempts || !s.dialect.Retry(err) {
			return err
		}
		if store.Pause(ctx, longestPause<<(n-1)) != nil {
			return err
		}
	}
}

// transact runs do in a transaction, once.
func (s *Store) transact(
	ctx context.Context, operation string, started time.Time, do func(ctx context.Context, tx *Store) error,
) error {
	var tx *transaction
	err := s.retrying(ctx, started, func() (err error) { tx, err = s.begin(ctx); return err })
	if err != nil {
		return s.failed(ctx, operation, err, nil)
	}
	defer func() {
		tx.ended.Store(true)
		_ = tx.Rollback() // does nothing after a commit; undoes the transaction after a panic
	}()
	if err := do(context.WithValue(ctx, within{s.engine}, tx), &Store{engine: s.engine, tx: tx}); err != nil {
		return err
	}
	return s.failed(ctx, operation, tx.Commit(), nil)
}

func (s *Store) begin(ctx context.Context) (*transaction, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	if s.dialect.Begin != "" {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf(s.dialect.Begin, s.dialect.Quote(s.layout.Users))); err != nil {
			return nil, errors.Join(err, tx.Rollback())
		}
	}
	return &transaction{Tx: tx}, nil
}

// savepoint runs do in a transaction within this one. All savepoints have the same name; SQL uses the innermost.
func (s *Store) savepoint(
	ctx context.Context, operation string, do func(ctx context.Context, tx *Store) error,
) (err error) {
	if _, err := s.tx.ExecContext(ctx, "SAVEPOINT latchkey"); err != nil {
		return s.failed(ctx, operation, err, nil)
	}
	undo := true
	defer func() { // also if do panics
		end := context.WithoutCancel(ctx)
		if undo {
			_, back := s.tx.ExecContext(end, "ROLLBACK TO SAVEPOINT latchkey")
			err = errors.Join(err, s.failed(end, operation, back, nil))
		}
		_, release := s.tx.ExecContext(end, "RELEASE SAVEPOINT latchkey")
		err = errors.Join(err, s.failed(end, operation, release, nil))
	}()
	err = do(ctx, s)
	undo = err != nil
	return err
}

// prepareAll prepares all statements before a transaction, which may use the only connection. An error is ignored here:
// it occurs again where the statement is used, with its reason.
func (s *Store) prepareAll(ctx context.Context) {
	for _, st := range s.all {
		if _, err := st.prepared(ctx, s.db); err != nil {
			return
		}
	}
}

// enter waits until a statement may run. Unless it returns an error, leave must follow.
func (s *Store) enter(ctx context.Context, k kind) error {
	if s.tx != nil || s.writing == nil {
		return ctx.Err()
	}
	if tx, ok := ctx.Value(within{s.engine}).(*transaction); ok && !tx.ended.Load() {
		return errors.New("the store was called within its own transaction: use the store passed to the function")
	}
	if k == reads {
		return ctx.Err()
	}
	select {
	case s.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) leave(k kind) {
	if s.tx == nil && s.writing != nil && k != reads {
		<-s.writing
	}
}

// retrying runs do until it succeeds or there is no further attempt. It retries if the database has undone the
// statement because of a concurrent transaction; within a transaction, only the caller can retry. It also retries while
// another process holds the lock, as long as ctx allows: a database that waits for locks itself ignores the context.
// The time limit begins when the call started, so that queued calls do not each wait the full time.
func (s *Store) retrying(ctx context.Context, started time.Time, do func() error) error {
	var enough <-chan time.Time // nil until another process held the lock
	for undone := 0; ; {
		err := do()
		switch {
		case err == nil || s.tx != nil:
			return err
		case s.dialect.Busy != nil && s.dialect.Busy(err):
			if enough == nil {
				enough = time.After(patience - time.Since(started))
			}
			select {
			case <-ctx.Done():
				return err
			case <-enough:
				return err
			case <-time.After(pause):
			}
		default:
			if undone++; undone == attempts || !s.dialect.Retry(err) {
				return err
			}
		}
	}
}
