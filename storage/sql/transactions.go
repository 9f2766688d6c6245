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

// transaction is an open transaction.
type transaction struct {
	*sql.Tx
	ended atomic.Bool
}

// within is the key under which the context of a transaction names it, for each engine apart.
type within struct{ *engine }

// inTransaction is InTransaction for an operation that the errors of the transaction itself name.
func (r *runner) inTransaction(
	ctx context.Context, operation string, do func(ctx context.Context, tx *runner) error,
) error {
	if r.tx != nil {
		return r.savepoint(ctx, operation, do)
	}
	came := time.Now()
	if err := r.enter(ctx, writes); err != nil {
		return r.failed(ctx, operation, err, nil)
	}
	defer r.leave(writes)
	if !r.dialect.DriverPrepares {
		r.prepareAll(ctx)
	}
	for n := 1; ; n++ {
		err := r.transact(ctx, operation, came, do)
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
	ctx context.Context, operation string, came time.Time, do func(ctx context.Context, tx *runner) error,
) error {
	var tx *transaction
	err := r.retrying(ctx, came, func() (err error) { tx, err = r.begin(ctx); return err })
	if err != nil {
		return r.failed(ctx, operation, err, nil)
	}
	defer func() {
		tx.ended.Store(true)
		_ = tx.Rollback() // after a commit it does nothing; after a panic it undoes
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

// savepoint is a transaction within this one. Savepoints of one name nest: the innermost is meant.
func (r *runner) savepoint(
	ctx context.Context, operation string, do func(ctx context.Context, tx *runner) error,
) (err error) {
	if _, err := r.tx.ExecContext(ctx, "SAVEPOINT latchkey"); err != nil {
		return r.failed(ctx, operation, err, nil)
	}
	undo := true
	defer func() { // also when do panics
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

// prepareAll prepares what is not prepared yet, because a transaction may hold the only connection. What fails here
// fails again, with its reason, where it is used.
func (r *runner) prepareAll(ctx context.Context) {
	for _, st := range r.all {
		if _, err := st.prepared(ctx, r.db); err != nil {
			return
		}
	}
}

// enter waits until a statement may run. It is followed by leave unless it returns an error.
func (r *runner) enter(ctx context.Context, k kind) error {
	if r.tx != nil || r.writing == nil {
		return ctx.Err()
	}
	if tx, ok := ctx.Value(within{r.engine}).(*transaction); ok && !tx.ended.Load() {
		return errors.New("the store was called within its own transaction: use the store that was handed to the transaction")
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

// retrying runs do until there is no other attempt.
func (r *runner) retrying(ctx context.Context, came time.Time, do func() error) error {
	for a := (attempt{runner: r, came: came}); ; {
		if err := do(); !a.again(ctx, err) {
			return err
		}
	}
}

// attempt is one of several at what a call wants.
type attempt struct {
	*runner
	came   time.Time        // when the call began
	undone int              // by the engine, so far
	enough <-chan time.Time // nil until somebody held the lock
}

// again reports whether there is another attempt after one that ended in err: when the engine undid it because of a
// concurrent transaction, which within a transaction only the caller can try again; and while another process holds the
// lock, as long as the context allows: an engine that waits by itself does not look at it. Patience is counted from the
// call's beginning, so that calls in a queue do not each wait for that lock anew.
func (a *attempt) again(ctx context.Context, err error) bool {
	switch {
	case err == nil || a.tx != nil:
		return false
	case a.dialect.Busy != nil && a.dialect.Busy(err):
		if a.enough == nil {
			a.enough = time.After(patience - time.Since(a.came))
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
