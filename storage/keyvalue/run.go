package keyvalue

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// runner runs operations, alone or within a transaction. Each part of a Store has a copy.
type runner struct {
	name   string // prefix of errors
	engine Engine
	tx     *transaction // nil outside transactions
}

func (r *runner) view() *view { return &view{engine: r.engine} }

// attempts is the maximum number of attempts at an operation after conflicts. It is high because many operations may
// conflict, and only one of them succeeds each time.
const attempts = 200

// longestPause is the maximum pause before a retry.
const longestPause = 20 * time.Millisecond

// step is one operation on a view: it reads, and then adds writes to the view. It returns documents. It may run several
// times, each time on the current data, and must not depend on anything that its caller may change meanwhile.
type step func(ctx context.Context, v *view) ([]string, error)

// run runs an operation until no conflict occurs, and commits its writes.
func (r *runner) run(ctx context.Context, operation string, do step) ([]string, error) {
	if r.tx != nil {
		out, err := r.tx.run(ctx, r, do)
		return out, r.failed(ctx, operation, err)
	}
	for n := 1; ; n++ {
		v := r.view()
		out, err := r.try(ctx, v, do)
		if err == nil {
			return out, nil
		}
		if err = r.again(ctx, n, err); err != nil {
			return nil, r.failed(ctx, operation, err)
		}
	}
}

// try makes one attempt at an operation.
func (r *runner) try(ctx context.Context, v *view, do step) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out, err := do(ctx, v)
	if err == nil {
		err = r.write(ctx, v)
	}
	return out, err
}

// write commits the writes of a view, if any. If settling fails afterwards, a later call settles: the operation itself
// has succeeded.
func (r *runner) write(ctx context.Context, v *view) error {
	if v.empty() {
		return nil
	}
	if err := r.engine.Commit(ctx, v.change()); err != nil {
		return err
	}
	for user := range v.stale {
		_ = r.settleSome(ctx, user, false)
	}
	return nil
}

// again prepares another attempt, or returns the reason why there is none.
func (r *runner) again(ctx context.Context, n int, err error) error {
	var left *leftoverError
	switch {
	case n >= attempts && errors.Is(err, ErrChanged):
		return errors.New("too many write conflicts")
	case errors.As(err, &left) && n < attempts:
		return r.settle(ctx, left.user)
	case !errors.Is(err, ErrChanged):
		return err
	case n == 1:
		return nil
	}
	return wait(ctx, n)
}

// wait pauses before the attempt after the n-th. The pause increases, and is random, so that conflicting operations do
// not conflict again.
func wait(ctx context.Context, n int) error {
	pause := longestPause
	if n < 6 {
		pause = time.Millisecond << n / 2
	}
	return store.Pause(ctx, pause)
}

// leftoverError means that a record belongs to a deleted user whose deletion was interrupted.
type leftoverError struct{ user string }

func (*leftoverError) Error() string { return "a record of a deleted user has not been removed yet" }

// failed adds the operation to an error, and converts errors to those of the contract.
func (r *runner) failed(ctx context.Context, operation string, err error) error {
	return store.OpError(ctx, r.name, operation, err)
}

// one is run for an operation that returns one document.
func one[T any](
	ctx context.Context, r *runner, operation string, read func(document string) (T, error), do step,
) (T, error) {
	var none T
	out, err := r.run(ctx, operation, do)
	if err != nil {
		return none, err
	}
	v, err := read(out[0])
	return v, r.failed(ctx, operation, err)
}

// list is run for an operation that returns documents of one kind.
func list[T any](
	ctx context.Context, r *runner, operation string, read func(document string) (T, error), do step,
) ([]T, error) {
	out, err := r.run(ctx, operation, do)
	if err != nil {
		return nil, err
	}
	var all []T
	for _, document := range out {
		v, err := read(document)
		if err != nil {
			return nil, r.failed(ctx, operation, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// found returns the texts of records. It returns ErrNotFound if one does not exist.
func found(values []Value, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(values))
	for _, v := range values {
		if !v.Found {
			return nil, store.ErrNotFound
		}
		out = append(out, v.Text)
	}
	return out, nil
}
