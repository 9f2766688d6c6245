package keyvalue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/latchkey-go/latchkey/core/store"
)

// transaction gathers what is to be written by one commit. When that meets others, the steps are taken once more on
// what the engine holds by then; if each has the same outcome, the caller of the transaction cannot tell the
// difference.
type transaction struct {
	mu    sync.Mutex
	view  *view
	taken []taken
	ended bool
}

// taken is a step with its outcome.
type taken struct {
	do  step
	out []string
	err error // nil, store.ErrNotFound or store.ErrConflict
}

// InTransaction implements [store.Transactor]. What do writes is gathered and written by one commit after it; what it
// reads includes that. A record that was read and that others change meanwhile, in a way that matters, makes the
// transaction fail: with [store.ErrConflict] when what was to be made has been made by others, with an error that says
// so otherwise. tx is a *Store, safe for concurrent use. A transaction within a transaction is undone by itself when it
// fails, and the outer one goes on.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	if s.tx != nil {
		return s.nested(ctx, do)
	}
	const operation = "transaction"
	if err := ctx.Err(); err != nil {
		return s.failed(ctx, operation, err)
	}
	t := &transaction{view: s.view()}
	defer t.end()
	if err := do(ctx, &Store{name: s.name, engine: s.engine, tx: t}); err != nil {
		return err
	}
	t.end()
	return s.failed(ctx, "commit", s.commit(ctx, t))
}

func (t *transaction) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

func (s *Store) commit(ctx context.Context, t *transaction) error {
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.view.empty() {
			return nil
		}
		err := s.engine.Commit(ctx, t.view.change())
		if err == nil {
			for user := range t.view.stale {
				_ = s.settle(ctx, user) // as in run
			}
			return nil
		}
		if err := s.again(ctx, n, err); err != nil {
			return err
		}
		if err := t.replay(ctx, s); err != nil {
			return err
		}
	}
}

// run takes a step.
func (t *transaction) run(ctx context.Context, s *Store, do step) ([]string, error) {
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
			t.taken = append(t.taken, taken{do, out, outcome})
			return slices.Clone(out), err
		}
		if err = s.again(ctx, n, err); err != nil {
			return nil, err
		}
		if err := t.replay(ctx, s); err != nil {
			return nil, err
		}
	}
}

// asOutcome is the error of the contract that an error stands for.
func asOutcome(err error) error {
	for _, outcome := range []error{store.ErrNotFound, store.ErrConflict} {
		if errors.Is(err, outcome) {
			return outcome
		}
	}
	return nil
}

// replay takes the steps once more, on a fresh view.
func (t *transaction) replay(ctx context.Context, s *Store) error {
	v := s.view()
	for _, step := range t.taken {
		out, err := step.do(ctx, v)
		switch outcome := asOutcome(err); {
		case err != nil && outcome == nil:
			return err
		case outcome == nil && step.err == nil && slices.Equal(out, step.out), outcome != nil && errors.Is(step.err, outcome):
		case outcome != nil && errors.Is(outcome, store.ErrConflict):
			return store.ErrConflict
		default:
			return errors.New("others changed what the transaction had read: try again")
		}
	}
	t.view = v
	return nil
}

// nested runs do within this transaction and undoes it when it fails.
func (s *Store) nested(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	t := s.tx
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return fmt.Errorf("%s: transaction: the transaction is over", s.name)
	}
	before, steps := t.view.clone(), len(t.taken)
	t.mu.Unlock()
	undo := true
	defer func() { // also when do panics
		if !undo {
			return
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.view.pending, t.taken = before, t.taken[:steps]
	}()
	err := do(ctx, s)
	undo = err != nil
	return err
}
