package keyvalue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/latchkey-go/latchkey/core/store"
)

// transaction collects the writes of one commit. After a conflict it replays its steps on the current data. If each
// step has the same result, the caller of the transaction cannot notice the replay.
type transaction struct {
	mu    sync.Mutex
	view  *view
	steps []stepResult
	ended bool
	// conflicted is set if a replay had other results, so that the caller might have done something else.
	conflicted bool
}

// stepResult is a step and its result.
type stepResult struct {
	do  step
	out []string
	err error // nil, store.ErrNotFound or store.ErrConflict
}

// InTransaction implements [store.Transactor]. It runs do and commits all its writes at the end; reads in do see them.
// If a concurrent change affects what do has read, do runs again, up to 50 times while ctx lasts: it must therefore
// reset what it has stored outside of tx. tx is a *Store and safe for concurrent use. If a nested transaction fails,
// only its own writes are undone, and the outer one continues.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	if s.tx != nil {
		return s.nested(ctx, do)
	}
	for n := 1; ; n++ {
		conflicted, err := s.transact(ctx, do)
		if err == nil || !conflicted || n == transactionAttempts {
			return err
		}
		if err := wait(ctx, n); err != nil {
			return s.failed(ctx, "transaction", err)
		}
	}
}

// transactionAttempts is the maximum number of attempts at a transaction. It is high because many transactions may
// conflict, and only one of them succeeds each time.
const transactionAttempts = 50

// transact runs do in a transaction, once. conflicted reports whether it failed because of a conflict and may run
// again.
func (s *Store) transact(
	ctx context.Context, do func(ctx context.Context, tx store.Store) error,
) (conflicted bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, s.failed(ctx, "transaction", err)
	}
	t := &transaction{view: s.view()}
	defer t.end()
	if err := do(ctx, storeOn(runner{name: s.name, engine: s.engine, tx: t})); err != nil {
		t.end()
		return t.conflicted, err
	}
	t.end()
	err = s.failed(ctx, "commit", s.commit(ctx, t))
	return t.conflicted, err
}

func (t *transaction) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

func (r *runner) commit(ctx context.Context, t *transaction) error {
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := r.write(ctx, t.view)
		if err == nil {
			return nil
		}
		if err := r.again(ctx, n, err); err != nil {
			return err
		}
		if err := t.replay(ctx, r); err != nil {
			return err
		}
	}
}

// run runs a step and records its result.
func (t *transaction) run(ctx context.Context, r *runner, do step) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil, errors.New("the transaction is over")
	}
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out, err := do(ctx, t.view)
		if outcome := asOutcome(err); err == nil || outcome != nil {
			t.steps = append(t.steps, stepResult{do, out, outcome})
			return slices.Clone(out), err
		}
		if err = r.again(ctx, n, err); err != nil {
			return nil, err
		}
		if err := t.replay(ctx, r); err != nil {
			return nil, err
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
func (t *transaction) replay(ctx context.Context, r *runner) error {
	v := r.view()
	for _, step := range t.steps {
		out, err := step.do(ctx, v)
		switch outcome := asOutcome(err); {
		case err != nil && outcome == nil:
			return err
		case outcome == nil && step.err == nil && slices.Equal(out, step.out), outcome != nil && errors.Is(step.err, outcome):
			continue
		case outcome != nil && errors.Is(outcome, store.ErrConflict):
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

// nested runs do within this transaction and undoes its writes if it fails.
func (s *Store) nested(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	t := s.tx
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return fmt.Errorf("%s: transaction: the transaction is over", s.name)
	}
	before, steps := t.view.clone(), len(t.steps)
	t.mu.Unlock()
	undo := true
	defer func() { // also if do panics
		if !undo {
			return
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.view.pending, t.steps = before, t.steps[:steps]
	}()
	err := do(ctx, s)
	undo = err != nil
	return err
}
