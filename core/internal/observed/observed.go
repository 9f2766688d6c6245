// Package observed reports calls to Config.Observe.
package observed

import (
	"context"

	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// Calls reports calls. The zero value reports nothing.
type Calls struct {
	Observe func(ctx context.Context, c observe.Call) (context.Context, func(observe.Outcome))
	// Outcome maps the error of a call to an outcome.
	Outcome func(ctx context.Context, err error) observe.Outcome
	// Panicked logs a panic of Observe.
	Panicked func(ctx context.Context, err error)
}

// On reports whether calls are reported.
func (w Calls) On() bool { return w.Observe != nil }

// Begin reports the start of a call. It returns the context of the call and a function that reports the outcome. A
// panic of the application's functions is logged, and the call continues.
func (w Calls) Begin(ctx context.Context, c observe.Call) (within context.Context, end func(observe.Outcome)) {
	within = ctx
	w.safely(ctx, func() { within, end = w.Observe(ctx, c) })
	if within == nil {
		within = ctx
	}
	told := end
	return within, func(o observe.Outcome) {
		if told != nil {
			w.safely(ctx, func() { told(o) })
		}
	}
}

func (w Calls) safely(ctx context.Context, tell func()) {
	defer func() {
		if v := recover(); v != nil {
			w.Panicked(ctx, panics.New("Observe", v))
		}
	}()
	tell()
}

// Call makes a call and reports it. A call that panics is reported as failed.
func Call[T any](
	ctx context.Context, w Calls, c observe.Call, call func(ctx context.Context) (T, error),
) (T, error) {
	if !w.On() {
		return call(ctx)
	}
	ctx, end := w.Begin(ctx, c)
	outcome := observe.Failed
	defer func() { end(outcome) }()
	v, err := call(ctx)
	outcome = w.Outcome(ctx, err)
	return v, err
}

// Do is [Call] for calls that return only an error.
func (w Calls) Do(ctx context.Context, c observe.Call, call func(ctx context.Context) error) error {
	_, err := Call(ctx, w, c, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}
