package hosted

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// transaction collects the writes of one request. If the request is rejected, it replays its steps on the current data.
// If each step has the same result, the caller of the transaction cannot notice the replay.
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
	out string // as JSON
	err error  // nil, store.ErrNotFound or store.ErrConflict
}

// InTransaction implements [store.Transactor]. It runs do and sends all its writes in one request at the end, at most
// 1000 operations; reads in do see them. If a concurrent change affects what do has read, do runs again, up to 20 times
// while ctx lasts: it must therefore reset what it has stored outside of tx. tx is a *Store and safe for concurrent
// use. If a nested transaction fails, only its own writes are undone, and the outer one continues.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	if s.tx != nil {
		return s.nested(ctx, do)
	}
	for n := 1; ; n++ {
		conflicted, err := s.transact(ctx, do)
		if err == nil || !conflicted || n == attempts {
			return err
		}
		if err := pauseForConflict(ctx, n); err != nil {
			return s.failed(ctx, "transaction", err)
		}
	}
}

// pauseForConflict pauses before a retry after n conflicts. The maximum pause is n times 50 ms, so that many calls that
// write the same records succeed one after another, even on a slow machine.
func pauseForConflict(ctx context.Context, n int) error {
	return store.Pause(ctx, time.Duration(n)*50*time.Millisecond)
}

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
	if err := do(ctx, storeOn(&runner{client: s.client, tables: s.tables, tx: t})); err != nil {
		return false, err
	}
	t.end()
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return false, s.failed(ctx, "commit", err)
		}
		err := t.view.commit(ctx)
		var rejected *rejectedError
		if errors.As(err, &rejected) && n < attempts {
			if n > 1 {
				_ = pauseForConflict(ctx, n-1) // the next check of the context ends it
			}
			if err = t.replay(ctx, s.runner); err == nil {
				continue
			}
		}
		return t.conflicted, s.failed(ctx, "commit", err)
	}
}

func (t *transaction) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

// run runs a step and records its result.
func (t *transaction) run(ctx context.Context, _ *runner, do step) ([]record, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil, errors.New("the transaction is over")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out, err := do(ctx, t.view)
	if outcome := asOutcome(err); err == nil || outcome != nil {
		t.steps = append(t.steps, stepResult{do, fingerprint(out), outcome})
	}
	return out, err
}

// fingerprint returns the part of a result that a caller can see.
func fingerprint(out []record) string {
	text, _ := json.Marshal(withoutMeta(out)) // the values were decoded from JSON
	return string(text)
}

func withoutMeta(list []record) []record {
	var out []record
	for _, r := range list {
		c := record{}
		for name, value := range r {
			if inner, ok := value.(map[string]any); ok {
				value = withoutMeta([]record{inner})[0]
			}
			if name != "xata" {
				c[name] = value
			}
		}
		out = append(out, c)
	}
	return out
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
func (t *transaction) replay(ctx context.Context, in *runner) error {
	v := in.view()
	for _, step := range t.steps {
		out, err := step.do(ctx, v)
		switch outcome := asOutcome(err); {
		case err != nil && outcome == nil:
			return err
		case outcome == nil && step.err == nil && fingerprint(out) == step.out,
			outcome != nil && errors.Is(step.err, outcome):
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
	before, steps, ended := t.view.clone(), len(t.steps), t.ended
	t.mu.Unlock()
	if ended {
		return s.failed(ctx, "transaction", errors.New("the transaction is over"))
	}
	undo := true
	defer func() { // also if do panics
		if undo {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.view.pending, t.steps = before, slices.Clip(t.steps[:steps])
		}
	}()
	err := do(ctx, s)
	undo = err != nil
	return err
}
