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
func (r *runner) inTransaction(
	ctx context.Context, operation string, do func(ctx context.Context, tx *runner) error,
) error {
	if r.tx != nil {
		return r.savepoint(ctx, operation, do)
	}
	started := time.Now()
	if err := r.enter(ctx, writes); err != nil {
		return r.failed(ctx, operation, err, nil)
	}
	defer r.leave(writes)
	if !r.dialect.DriverPrepares {
		r.prepareAll(ctx)
	}
	for n := 1; ; n++ {
		err := r.transact(ctx, operation, started, do)
		if err == nil || n == attempts || !r.dialect.Retry(err) {
			return err
		}
		if store.Pause(ctx, longestPause<<(n-1)) != nil {
			return err
		}
	}
}

// transact runs do in a transaction, once.
func (r *runner) transact(
	ctx context.Context, operation string, started time.Time, do func(ctx context.Context, tx *runner) error,
) error {
	var tx *transaction
	err := r.retrying(ctx, started, func() (err error) { tx, err = r.begin(ctx); return err })
	if err != nil {
		return r.failed(ctx, operation, err, nil)
	}
	defer func() {
		tx.ended.Store(true)
		_ = tx.Rollback() // does nothing after a commit; undoes the transaction after a panic
	}()
	if err := do(context.WithValue(ctx, within{r.engine}, tx), &runner{engine: r.engine, tx: tx}); err != nil {
		return err
	}
	return r.failed(ctx, operation, tx.Commit(), nil)
}

func (r *runner) begin(ctx context.Context) (*transaction, error) {
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	if r.dialect.Begin != "" {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf(r.dialect.Begin, r.dialect.Quote(r.layout.Users))); err != nil {
			return nil, errors.Join(err, tx.Rollback())
		}
	}
	return &transaction{Tx: tx}, nil
}

// savepoint runs do in a transaction within this one. All savepoints have the same name; SQL uses the innermost.
func (r *runner) savepoint(
	ctx context.Context, operation string, do func(ctx context.Context, tx *runner) error,
) (err error) {
	if _, err := r.tx.ExecContext(ctx, "SAVEPOINT latchkey"); err != nil {
		return r.failed(ctx, operation, err, nil)
	}
	undo := true
	defer func() { // also if do panics
		end := context.WithoutCancel(ctx)
		if undo {
			_, back := r.tx.ExecContext(end, "ROLLBACK TO SAVEPOINT latchkey")
			err = errors.Join(err, r.failed(end, operation, back, nil))
		}
		_, release := r.tx.ExecContext(end, "RELEASE SAVEPOINT latchkey")
		err = errors.Join(err, r.failed(end, operation, release, nil))
	}()
	err = do(ctx, r)
	undo = err != nil
	return err
}

// prepareAll prepares all statements before a transaction, which may use the only connection. An error is ignored here:
// it occurs again where the statement is used, with its reason.
func (r *runner) prepareAll(ctx context.Context) {
	for _, st := range r.all {
		if _, err := st.prepared(ctx, r.db); err != nil {
			return
		}
	}
}

// enter waits until a statement may run. Unless it returns an error, leave must follow.
func (r *runner) enter(ctx context.Context, k kind) error {
	if r.tx != nil || r.writing == nil {
		return ctx.Err()
	}
	if tx, ok := ctx.Value(within{r.engine}).(*transaction); ok && !tx.ended.Load() {
		return errors.New("the store was called within its own transaction: use the store passed to the function")
	}
	if k == reads {
		return ctx.Err()
	}
	select {
	case r.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *runner) leave(k kind) {
	if r.tx == nil && r.writing != nil && k != reads {
		<-r.writing
	}
}

// retrying runs do until there is no further attempt.
func (r *runner) retrying(ctx context.Context, started time.Time, do func() error) error {
	for a := (attempt{runner: r, started: started}); ; {
		if err := do(); !a.again(ctx, err) {
			return err
		}
	}
}

// attempt counts the attempts of a call.
type attempt struct {
	*runner
	started time.Time        // start of the call
	undone  int              // number of attempts that the database has undone
	enough  <-chan time.Time // nil until another process held the lock
}

// again reports whether to retry after err. It retries if the database has undone the statement because of a concurrent
// transaction; within a transaction, only the caller can retry. It also retries while another process holds the lock,
// as long as ctx allows: a database that waits for locks itself ignores the context. The time limit starts with the
// call, so that queued calls do not each wait the full time.
func (a *attempt) again(ctx context.Context, err error) bool {
	switch {
	case err == nil || a.tx != nil:
		return false
	case a.dialect.Busy != nil && a.dialect.Busy(err):
		if a.enough == nil {
			a.enough = time.After(patience - time.Since(a.started))
		}
		select {
		case <-ctx.Done():
			return false
		case <-a.enough:
			return false
		case <-time.After(pause):
			return true
		}
	default:
		a.undone++
		return a.undone < attempts && a.dialect.Retry(err)
	}
}
