// Package flight coalesces concurrent calls with the same key into one call.
package flight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
)

// DefaultMax is the maximum number of concurrent calls of a [Group] whose Max is zero.
const DefaultMax = 1000

// ErrFull is returned if Max calls are in progress and none has the requested key.
var ErrFull = errors.New("too many requests are in progress")

var errNoResult = errors.New("the call ended without a result")

// Group coalesces calls. The zero value is ready to use; set the fields before the first call. It is safe for
// concurrent use and must not be copied.
type Group[V any] struct {
	// Timeout limits the duration of each call. It is required.
	Timeout time.Duration
	// Max is the maximum number of concurrent calls. The default is [DefaultMax].
	Max int64

	calls   singleflight.Group
	pending atomic.Int64
}

// Start starts call in a new goroutine, unless a call with the same key is in progress. It returns a function that
// waits for the result, or for the end of its context. The call has the values of ctx and continues when the callers
// have left. If call panics or ends its goroutine, the callers receive an error.
func (g *Group[V]) Start(
	ctx context.Context, key string, call func(context.Context) (V, error),
) (wait func(context.Context) (V, error)) {
	result := g.calls.DoChan(key, func() (any, error) {
		defer g.pending.Add(-1)
		if g.pending.Add(1) > cmp.Or(g.Max, DefaultMax) {
			return nil, ErrFull
		}
		done := make(chan singleflight.Result, 1)
		go func() { // after runtime.Goexit, singleflight would never send a result
			r := singleflight.Result{Err: errNoResult}
			defer func() {
				if p := recover(); p != nil {
					r.Err = fmt.Errorf("the call panicked: %.200q", fmt.Sprint(p))
				}
				done <- r
			}()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.Timeout)
			defer cancel()
			r.Val, r.Err = call(ctx)
		}()
		r := <-done
		return r.Val, r.Err
	})
	return func(ctx context.Context) (value V, err error) {
		select {
		case r := <-result:
			value, _ = r.Val.(V)
			return value, r.Err
		case <-ctx.Done():
			return value, ctx.Err()
		}
	}
}

// Do calls Start with ctx, and waits for the result until ctx is done.
func (g *Group[V]) Do(ctx context.Context, key string, call func(context.Context) (V, error)) (V, error) {
	return g.Start(ctx, key, call)(ctx)
}
