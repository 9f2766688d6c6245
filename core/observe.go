package core

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/upstream"
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
			panicked := &panicError{where: "Observe", value: v, frames: panicFrames()}
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

// callOutcome maps an error to an outcome, so that the error's text, which may contain anything, is not reported.
func callOutcome(ctx context.Context, err error) observe.Outcome {
	var refusal *oauth.Refusal
	var unanswered *upstream.Error
	var ours *Error
	switch {
	case err == nil:
		return observe.OK
	case errors.Is(err, ErrNotFound):
		return observe.Absent
	case errors.Is(err, ErrConflict):
		return observe.Conflict
	case errors.As(err, &refusal):
		return observe.Refused
	case errors.Is(ctx.Err(), context.Canceled):
		return observe.Canceled
	case errors.Is(err, ErrStoreUnavailable), errors.Is(err, context.DeadlineExceeded), errors.As(err, &unanswered):
		return observe.Unavailable
	case errors.As(err, &ours):
		if outcome, _ := verdict(err, false); outcome == audit.Refused {
			return observe.Refused
		}
	}
	return observe.Failed
}
