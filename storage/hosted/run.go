package hosted

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/store"
)

// runner runs operations, alone or within a transaction.
type runner struct {
	client *client
	tables tables
	tx     *transaction // nil outside transactions
}

type tables struct{ users, accounts, sessions, usersAccounts, usersSessions, tokens, passkeys, records string }

// attempts is the maximum number of attempts at an operation that the database rejects. The usual reason is a
// concurrent call, which the next attempt sees.
const attempts = 20

// step is one operation: it reads, and then adds writes to the view. It may run several times, and must not depend on
// anything that its caller may change meanwhile.
type step func(ctx context.Context, v *view) ([]record, error)

// run runs an operation and commits its writes.
func (in *runner) run(ctx context.Context, operation string, do step) ([]record, error) {
	if in.tx != nil {
		out, err := in.tx.run(ctx, in, do)
		return out, in.failed(ctx, operation, err)
	}
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return nil, in.failed(ctx, operation, err)
		}
		v := in.view()
		out, err := do(ctx, v)
		if err == nil {
			err = v.commit(ctx)
		}
		if err == nil {
			return out, nil
		}
		var rejected *rejectedError
		if !errors.As(err, &rejected) || n == attempts || len(v.ops) == 0 {
			return nil, in.failed(ctx, operation, err)
		}
		if n > 1 {
			_ = pauseForConflict(ctx, n-1) // the next check of the context ends it
		}
	}
}

// failed adds the operation to an error, and converts errors to those of the contract.
func (in *runner) failed(ctx context.Context, operation string, err error) error {
	return store.OpError(ctx, "hosted", operation, err)
}

// one is run for an operation that returns one record.
func one[T any](ctx context.Context, in *runner, operation string, read func(record) (T, error), do step) (T, error) {
	var none T
	out, err := in.run(ctx, operation, do)
	if err != nil {
		return none, err
	}
	v, err := read(out[0])
	return v, in.failed(ctx, operation, err)
}

// list is run for an operation that returns records of one kind.
func list[T any](
	ctx context.Context, in *runner, operation string, read func(record) (T, error), do step,
) ([]T, error) {
	out, err := in.run(ctx, operation, do)
	if err != nil {
		return nil, err
	}
	var all []T
	for _, r := range out {
		v, err := read(r)
		if err != nil {
			return nil, in.failed(ctx, operation, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// first returns the first record of a query's result, or ErrNotFound.
func first(list []record, err error) (record, error) {
	if err == nil && len(list) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}
