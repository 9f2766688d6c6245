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
	// overtaken says that others have changed what the steps had read, so that the caller would have done other ones.
	overtaken bool
}

// taken is a step with its outcome.
type taken struct {
	do  step
	out []string
	err error // nil, store.ErrNotFound or store.ErrConflict
}

// InTransaction implements [store.Transactor]. What do writes is gathered and written by one commit after it; what it
// reads includes that. When others change meanwhile what it has read, in a way that matters, do is called again from
// the start, up to 50 times while the context lasts: what it has noted outside of the store, it has to note anew. tx is
// a *Store, safe for concurrent use. A transaction within a transaction is undone by itself when it fails, and the
// outer one goes on.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	if s.tx != nil {
		return s.nested(ctx, do)
	}
	for n := 1; ; n++ {
		overtaken, err := s.transact(ctx, do)
		if err == nil || !overtaken || n == beginnings {
			return err
		}
		if err := wait(ctx, n); err != nil {
			return s.failed(ctx, "transaction", err)
		}
	}
}

// beginnings is how often a transaction is begun: each time one of those that meet gets through, so that many may meet.
const beginnings = 50

// transact runs do in a transaction, once. overtaken says that it failed because of others and may be begun again.
func (s *Store) transact(
	ctx context.Context, do func(ctx context.Context, tx store.Store) error,
) (overtaken bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, s.failed(ctx, "transaction", err)
	}
	t := &transaction{view: s.view()}
	defer t.end()
	if err := do(ctx, storeOn(runner{name: s.name, engine: s.engine, tx: t})); err != nil {
		t.end()
		return t.overtaken, err
	}
	t.end()
	err = s.failed(ctx, "commit", s.commit(ctx, t))
	return t.overtaken, err
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

// run takes a step.
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
			t.taken = append(t.taken, taken{do, out, outcome})
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
func (t *transaction) replay(ctx context.Context, r *runner) error {
	v := r.view()
	for _, step := range t.taken {
		out, err := step.do(ctx, v)
		switch outcome := asOutcome(err); {
		case err != nil && outcome == nil:
			return err
		case outcome == nil && step.err == nil && slices.Equal(out, step.out), outcome != nil && errors.Is(step.err, outcome):
			continue
		case outcome != nil && errors.Is(outcome, store.ErrConflict):
			err = store.ErrConflict
		default:
			err = errors.New("others changed what the transaction had read: try again")
		}
		t.overtaken = true
		return err
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
