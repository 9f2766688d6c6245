// Package optimistic runs operations and transactions without locks. An operation reads, and its writes are committed
// together if nothing that they depend on has changed. After a write conflict it runs again on the current data.
// storage/keyvalue and storage/hosted use it.
package optimistic

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/latchkey-go/latchkey/core/store"
)

// Database is a database with such commits. V is a view: the data as seen by one attempt at an operation or by one
// transaction, with the pending writes. R is the result of an operation.
type Database[V, R any] interface {
	// View returns a view without pending writes.
	View() V
	// Commit applies the pending writes of a view, if any.
	Commit(ctx context.Context, v V) error
	// Again prepares another attempt after the n-th attempt failed with err. If there is none, it returns the reason.
	Again(ctx context.Context, n int, err error) error
	// Wait pauses before the transaction runs again after its n-th conflict.
	Wait(ctx context.Context, n int) error
	// Save copies the pending writes of a view. restore replaces those of another view by the copy.
	Save(v V) (restore func(v V))
	// Same reports whether two results look equal to the caller of an operation.
	Same(a, b R) bool
	// Failed adds the operation to an error, and converts errors to those of the contract.
	Failed(ctx context.Context, operation string, err error) error
}

// Step is one operation: it reads, and then adds writes to the view. It may run several times, each time on the current
// data, and must not depend on anything that its caller may change meanwhile.
type Step[V, R any] func(ctx context.Context, v V) (R, error)

// Run runs an operation until no conflict occurs, and commits its writes.
func Run[V, R any](ctx context.Context, db Database[V, R], do Step[V, R]) (R, error) {
	for n := 1; ; n++ {
		out, err := try(ctx, db, do)
		if err == nil {
			return out, nil
		}
		if err = db.Again(ctx, n, err); err != nil {
			var none R
			return none, err
		}
	}
}

func try[V, R any](ctx context.Context, db Database[V, R], do Step[V, R]) (out R, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	v := db.View()
	if out, err = do(ctx, v); err != nil {
		return out, err
	}
	return out, db.Commit(ctx, v)
}

// Transaction collects the writes of one commit. After a conflict it replays its steps on the current data. If each
// step has the same result, the caller of the transaction cannot notice the replay. It is safe for concurrent use.
type Transaction[V, R any] struct {
	db Database[V, R]

	mu    sync.Mutex
	view  V
	steps []stepResult[V, R]
	ended bool
	// conflicted is set if a replay had other results, so that the caller might have done something else.
	conflicted bool
}

// stepResult is a step and its result.
type stepResult[V, R any] struct {
	do  Step[V, R]
	out R
	err error // nil, store.ErrNotFound or store.ErrConflict
}

var errEnded = errors.New("the transaction is over")

// InTransaction calls do with a new transaction and commits its writes. If a concurrent change affects what do has
// read, do runs again, at most the given number of times.
func InTransaction[V, R any](
	ctx context.Context, db Database[V, R], attempts int, do func(t *Transaction[V, R]) error,
) error {
	for n := 1; ; n++ {
		conflicted, err := transact(ctx, db, do)
		if err == nil || !conflicted || n == attempts {
			return err
		}
		if err := db.Wait(ctx, n); err != nil {
			return db.Failed(ctx, "transaction", err)
		}
	}
}

// transact runs do in a transaction, once. conflicted reports whether it failed because of a conflict and may run
// again.
func transact[V, R any](
	ctx context.Context, db Database[V, R], do func(t *Transaction[V, R]) error,
) (conflicted bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, db.Failed(ctx, "transaction", err)
	}
	t := &Transaction[V, R]{db: db, view: db.View()}
	defer t.end() // also if do panics
	err = do(t)
	t.end()
	if err == nil {
		err = db.Failed(ctx, "commit", t.commit(ctx))
	}
	return t.conflicted, err
}

func (t *Transaction[V, R]) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

func (t *Transaction[V, R]) commit(ctx context.Context) error {
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := t.db.Commit(ctx, t.view)
		if err == nil {
			return nil
		}
		if err := t.retry(ctx, n, err); err != nil {
			return err
		}
	}
}

// retry replays the steps before another attempt.
func (t *Transaction[V, R]) retry(ctx context.Context, n int, err error) error {
	if err := t.db.Again(ctx, n, err); err != nil {
		return err
	}
	return t.replay(ctx)
}

// Run runs a step within the transaction and records its result.
func (t *Transaction[V, R]) Run(ctx context.Context, do Step[V, R]) (none R, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return none, errEnded
	}
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return none, err
		}
		out, err := do(ctx, t.view)
		if outcome := asOutcome(err); err == nil || outcome != nil {
			t.steps = append(t.steps, stepResult[V, R]{do, out, outcome})
			return out, err
		}
		if err := t.retry(ctx, n, err); err != nil {
			return none, err
		}
	}
}

// asOutcome returns the contract's error that err wraps, or nil.
func asOutcome(err error) error {
	for _, outcome := range []error{store.ErrNotFound, store.ErrConflict} {
		if errors.Is(err, outcome) {
			return outcome
		}
	}
	return nil
}

// replay runs the steps again, on a new view.
func (t *Transaction[V, R]) replay(ctx context.Context) error {
	v := t.db.View()
	for _, step := range t.steps {
		out, err := step.do(ctx, v)
		outcome := asOutcome(err)
		switch {
		case err != nil && outcome == nil:
			return err
		case outcome == nil && step.err == nil && t.db.Same(out, step.out), outcome != nil && errors.Is(step.err, outcome):
			continue
		case errors.Is(outcome, store.ErrConflict):
			err = store.ErrConflict
		default:
			err = errors.New("write conflict: retry the transaction")
		}
		t.conflicted = true
		return err
	}
	t.view = v
	return nil
}

// Nested runs do within the transaction. If do fails, only its own writes are undone.
func (t *Transaction[V, R]) Nested(ctx context.Context, do func() error) error {
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return t.db.Failed(ctx, "transaction", errEnded)
	}
	restore, steps := t.db.Save(t.view), len(t.steps)
	t.mu.Unlock()
	undo := true
	defer func() { // also if do panics
		if undo {
			t.mu.Lock()
			defer t.mu.Unlock()
			restore(t.view)
			t.steps = slices.Clip(t.steps[:steps])
		}
	}()
	err := do()
	undo = err != nil
	return err
}
