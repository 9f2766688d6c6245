package storecalls

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// Limited returns the function that makes the calls of a store: with a time limit, the report of w and recovery from
// panics. A limit of 0 means none.
//
// The recovery is inside and the report outside, so that a call that panics is reported as failed. A transaction is one
// call. The calls within it have the context of the transaction with its time limit.
func Limited(w observed.Calls, limit time.Duration) Call {
	return func(ctx context.Context, name string, call func(context.Context) error) error {
		return w.Do(ctx, observe.Call{Target: observe.Store, Name: name}, func(ctx context.Context) error {
			return panics.Guard("Store", func() error { return timed(ctx, limit, call) })
		})
	}
}

// timed makes a call with a context that expires after limit, or at the caller's own deadline if that is earlier. It
// adds store.ErrUnavailable to the error of a call that has exceeded its deadline, even if the store has not wrapped
// context.DeadlineExceeded. ErrNotFound, ErrConflict and decisions are results and stay unchanged.
func timed(ctx context.Context, limit time.Duration, call func(context.Context) error) error {
	if limit <= 0 {
		return call(ctx)
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := call(bounded)
	_, decided := errors.AsType[*autherr.Error](err) // of core, in a transaction
	switch {
	case err == nil || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict):
	case errors.Is(err, context.DeadlineExceeded),
		errors.Is(bounded.Err(), context.DeadlineExceeded) && !decided:
		err = store.Unavailable(err)
	}
	return err
}
