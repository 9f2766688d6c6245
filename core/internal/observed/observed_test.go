package observed_test

import (
	"context"
	"errors"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/internal/panics"
)

type key struct{}

// TestCall checks the outcome and the context of calls.
func TestCall(t *testing.T) {
	t.Parallel()
	cause := errors.New("refused")
	ok := func(context.Context) error { return nil }
	within := func(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, "span") }
	for name, row := range map[string]struct {
		observe func(ctx context.Context, end func(observe.Outcome)) (context.Context, func(observe.Outcome))
		call    func(ctx context.Context) error
		want    observe.Outcome
		err     error
		logged  int
	}{
		"a call": {call: ok, want: observe.OK},
		"a call that fails": {
			call: func(context.Context) error { return cause }, want: observe.Refused, err: cause,
		},
		"a context of its own": {
			observe: func(ctx context.Context, end func(observe.Outcome)) (context.Context, func(observe.Outcome)) {
				return within(ctx), end
			},
			call: func(ctx context.Context) error {
				if ctx.Value(key{}) != "span" {
					return errors.New("the call has another context")
				}
				return nil
			}, want: observe.OK,
		},
		"no function": {
			observe: func(context.Context, func(observe.Outcome)) (context.Context, func(observe.Outcome)) { return nil, nil },
			call:    ok,
		},
		"a panic of Observe": {
			observe: func(context.Context, func(observe.Outcome)) (context.Context, func(observe.Outcome)) { panic("x") },
			call:    ok, logged: 1,
		},
		"a panic of the function": {
			observe: func(context.Context, func(observe.Outcome)) (context.Context, func(observe.Outcome)) {
				return nil, func(observe.Outcome) { panic("x") }
			},
			call: ok, logged: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told observe.Outcome
			logged := 0
			end := func(o observe.Outcome) { told = o }
			w := observed.Calls{
				Observe: func(ctx context.Context, _ observe.Call) (context.Context, func(observe.Outcome)) {
					if row.observe == nil {
						return nil, end
					}
					return row.observe(ctx, end)
				},
				Outcome: func(_ context.Context, err error) observe.Outcome {
					if err != nil {
						return observe.Refused
					}
					return observe.OK
				},
				Panicked: func(context.Context, error) { logged++ },
			}
			err := w.Do(t.Context(), observe.Call{}, func(ctx context.Context) error {
				if ctx == nil {
					return errors.New("no context")
				}
				return row.call(ctx)
			})
			if !errors.Is(err, row.err) || told != row.want || logged != row.logged {
				t.Errorf("%v, told %q, %d logged", err, told, logged)
			}
		})
	}
}

// TestPanic checks that a call that panics is reported as failed, and that nothing is reported without Observe.
func TestPanic(t *testing.T) {
	t.Parallel()
	var told observe.Outcome
	w := observed.Calls{Observe: func(context.Context, observe.Call) (context.Context, func(observe.Outcome)) {
		return nil, func(o observe.Outcome) { told = o }
	}}
	err := panics.Guard("test", func() error {
		return w.Do(t.Context(), observe.Call{}, func(context.Context) error { panic("x") })
	})
	if err == nil || told != observe.Failed {
		t.Errorf("%v, told %q", err, told)
	}
	v, err := observed.Call(t.Context(), observed.Calls{}, observe.Call{}, func(context.Context) (int, error) {
		return 1, nil
	})
	if v != 1 || err != nil {
		t.Error(v, err)
	}
}
