package core

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/deadline"
	"github.com/latchkey-go/latchkey/core/store"
)

// timeLimit is how long a call of the store may take (Config.StoreTimeout). A transaction is one call.
type timeLimit time.Duration

// timed calls the store with a context that ends in time. A deadline of the caller's own that comes sooner stays. What
// a deadline ended is marked as unavailable, whatever the store makes of it.
func timed[T any](ctx context.Context, limit timeLimit, call func(context.Context) (T, error)) (T, error) {
	bounded := deadline.After(ctx, time.Duration(limit))
	defer bounded.End()
	v, err := call(bounded)
	return v, inTime(err)
}

func inTime(err error) error {
	if err != nil && errors.Is(err, context.DeadlineExceeded) {
		return store.Unavailable(err)
	}
	return err
}

// timedOnly is timed for calls that return an error alone.
func timedOnly(ctx context.Context, limit timeLimit, call func(context.Context) error) error {
	_, err := timed(ctx, limit, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}
