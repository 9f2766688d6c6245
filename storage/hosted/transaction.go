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

// transaction gathers what is to be written by one request. When that is rejected the steps are taken once more on what
// the database holds by then; if each has the same outcome, the caller of the transaction cannot tell the difference.
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
	out string // as JSON
	err error  // nil, store.ErrNotFound or store.ErrConflict
}

// InTransaction implements [store.Transactor]. What do writes is gathered and written by one request after it, of at
// most 1000 operations; what it reads includes that. When others change meanwhile what it has read, in a way that
// matters, do is called again from the start, up to 20 times while the context lasts: what it has noted outside of the
// store, it has to note anew. tx is a *Store, safe for concurrent use. A transaction within a transaction is undone by
// itself when it fails, and the outer one goes on.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	if s.tx != nil {
		return s.nested(ctx, do)
	}
	for n := 1; ; n++ {
		overtaken, err := s.transact(ctx, do)
		if err == nil || !overtaken || n == attempts {
			return err
		}
		if err := giveWay(ctx, n); err != nil {
			return s.failed(ctx, "transaction", err)
		}
	}
}

// giveWay waits before what others have overtaken n times is tried again: 50 ms at most the first time, and longer the
// more often, so that many who write the same records at once come through one after another, on a slow machine too.
func giveWay(ctx context.Context, n int) error {
	return store.Pause(ctx, time.Duration(n)*50*time.Millisecond)
}

// transact runs do in a transaction, once. overtaken says that it failed because of others and may be begun again.
func (s *Store) transact(
	ctx context.Context, do func(ctx context.Context, tx store.Store) error,
) (overtaken bool, err error) {
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
				_ = giveWay(ctx, n-1) // the next look at the context ends it
			}
			if err = t.replay(ctx, s.runner); err == nil {
				continue
			}
		}
		return t.overtaken, s.failed(ctx, "commit", err)
	}
}

func (t *transaction) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

// run takes a step.
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
		t.taken = append(t.taken, taken{do, fingerprint(out), outcome})
	}
	return out, err
}

// fingerprint is what a caller can see of an outcome.
func fingerprint(out []record) string {
	text, _ := json.Marshal(withoutMeta(out)) // JSON came in
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
func (t *transaction) replay(ctx context.Context, in *runner) error {
	v := in.view()
	for _, step := range t.taken {
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
	before, steps, ended := t.view.clone(), len(t.taken), t.ended
	t.mu.Unlock()
	if ended {
		return s.failed(ctx, "transaction", errors.New("the transaction is over"))
	}
	undo := true
	defer func() { // also when do panics
		if undo {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.view.pending, t.taken = before, slices.Clip(t.taken[:steps])
		}
	}()
	err := do(ctx, s)
	undo = err != nil
	return err
}
