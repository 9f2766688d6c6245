package storecalls_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
)

// TestLimited checks the deadline of a call, and which errors mean that the store is unavailable.
func TestLimited(t *testing.T) {
	t.Parallel()
	const limit = 3 * time.Second
	decision, failed := autherr.New(autherr.AccessDenied, nil), errors.New("driver: canceled")
	for name, row := range map[string]struct {
		limit time.Duration
		err   error
		hangs bool
		want  error
	}{
		"hangs":                    {limit, failed, true, store.ErrUnavailable},
		"fails in time":            {limit, failed, false, failed},
		"a deadline of the driver": {limit, context.DeadlineExceeded, false, store.ErrUnavailable},
		"absent, late":             {limit, store.ErrNotFound, true, store.ErrNotFound},
		"conflict, late":           {limit, store.ErrConflict, true, store.ErrConflict},
		"a decision, late":         {limit, decision, true, decision},
		"no error":                 {limit, nil, false, nil},
		"no limit":                 {0, failed, false, failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				call := storecalls.Limited(observed.Calls{}, row.limit)
				err := call(t.Context(), "read user", func(ctx context.Context) error {
					if _, limited := ctx.Deadline(); limited != (row.limit > 0) {
						t.Errorf("limited: %v", limited)
					}
					if row.hangs {
						<-ctx.Done()
					}
					return row.err
				})
				if !errors.Is(err, row.want) || errors.Is(err, store.ErrUnavailable) != errors.Is(row.want, store.ErrUnavailable) {
					t.Errorf("error %v", err)
				}
				if took := time.Since(began); row.hangs && took != limit {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// TestLimitedReports checks that a call is reported with its operation, and that a panic ends only the call.
func TestLimitedReports(t *testing.T) {
	t.Parallel()
	var told observe.Call
	var outcome observe.Outcome
	w := observed.Calls{
		Observe: func(ctx context.Context, c observe.Call) (context.Context, func(observe.Outcome)) {
			told = c
			return ctx, func(o observe.Outcome) { outcome = o }
		},
		Outcome: func(_ context.Context, err error) observe.Outcome {
			if err != nil {
				return observe.Failed
			}
			return observe.OK
		},
	}
	call := storecalls.Limited(w, 0)
	err := call(t.Context(), "read user", func(context.Context) error { panic("boom") })
	if want := (observe.Call{Target: observe.Store, Name: "read user"}); err == nil || told != want ||
		outcome != observe.Failed {
		t.Errorf("%v: %+v, %s", err, told, outcome)
	}
}
