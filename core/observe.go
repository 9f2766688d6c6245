package core

import (
	"context"

	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// watch reports calls to Config.Observe. The zero value reports nothing.
type watch struct {
	observe func(ctx context.Context, c observe.Call) (context.Context, func(observe.Outcome))
	log     *reporter
}

// on reports whether Config.Observe is set.
func (w watch) on() bool { return w.observe != nil }

// begin reports the start of a call. It returns the context of the call and a function that reports the outcome. A
// panic of the application's functions is logged, and the call continues.
func (w watch) begin(ctx context.Context, c observe.Call) (within context.Context, end func(observe.Outcome)) {
	within = ctx
	w.safely(ctx, func() { within, end = w.observe(ctx, c) })
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

func (w watch) safely(ctx context.Context, tell func()) {
	defer func() {
		if v := recover(); v != nil {
			panicked := panics.New("Observe", v)
			w.log.failure(ctx, errorf(errEvent, "observe: %w", panicked))
		}
	}()
	tell()
}

// watched makes a call and reports it if Config.Observe is set. A call that panics is reported as failed.
func watched[T any](
	ctx context.Context, w watch, c observe.Call, call func(ctx context.Context) (T, error),
) (T, error) {
	if !w.on() {
		return call(ctx)
	}
	ctx, end := w.begin(ctx, c)
	outcome := observe.Failed
	defer func() { end(outcome) }()
	v, err := call(ctx)
	outcome = callOutcome(ctx, err)
	return v, err
}

// watchedOnly is watched for calls that return only an error.
func watchedOnly(ctx context.Context, w watch, c observe.Call, call func(ctx context.Context) error) error {
	_, err := watched(ctx, w, c, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}
