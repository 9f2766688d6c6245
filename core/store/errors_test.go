package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// lateContext has a deadline in the past that it has not noticed yet.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Unix(1, 0), true }

func TestOpError(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	lost := errors.New("connection lost")
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for _, tt := range []struct {
		name string
		ctx  context.Context
		err  error
		text string
		is   []error
		not  []error
	}{
		{"nothing", t.Context(), nil, "", nil, nil},
		{"nothing behind a context that ended", cancelled, nil, "", nil, nil},
		{"absence", t.Context(), fmt.Errorf("row of eve@b: %w", store.ErrNotFound), "store: not found",
			[]error{store.ErrNotFound}, nil},
		{"a conflict names no value", t.Context(), fmt.Errorf("key eve@b: %w", store.ErrConflict),
			"sqlite: create user: store: conflict", []error{store.ErrConflict}, nil},
		{"a failure", t.Context(), lost, "sqlite: create user: connection lost", []error{lost},
			[]error{context.Canceled, store.ErrUnavailable}},
		{"a failure that hides the end of the context", cancelled, lost,
			"sqlite: create user: context canceled: connection lost", []error{lost, context.Canceled}, nil},
		{"the end of the context, once", cancelled, context.Canceled,
			"sqlite: create user: context canceled", []error{context.Canceled}, []error{store.ErrUnavailable}},
		{"a connection that is first to see the deadline", lateContext{t.Context()}, os.ErrDeadlineExceeded,
			"sqlite: create user: context deadline exceeded: i/o timeout",
			[]error{context.DeadlineExceeded, store.ErrUnavailable}, nil},
		{"another failure at that time", lateContext{t.Context()}, lost, "sqlite: create user: connection lost", nil,
			[]error{context.DeadlineExceeded}},
		{"a time-out of the connection's own", t.Context(), os.ErrDeadlineExceeded, "sqlite: create user: i/o timeout",
			[]error{store.ErrUnavailable}, []error{context.DeadlineExceeded}},
		{"an engine that does not run", t.Context(), refused, "sqlite: create user: dial: connection refused",
			[]error{refused, store.ErrUnavailable}, nil},
		{"an engine that hangs up", t.Context(), io.EOF, "sqlite: create user: EOF",
			[]error{io.EOF, store.ErrUnavailable}, nil},
		{"what a store has marked", t.Context(), store.Unavailable(lost), "sqlite: create user: connection lost",
			[]error{lost, store.ErrUnavailable}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := store.OpError(tt.ctx, "sqlite", "create user", tt.err)
			if text := fmt.Sprint(got); got == nil != (tt.err == nil) || got != nil && text != tt.text {
				t.Errorf("got %q, want %q", text, tt.text)
			}
			for _, target := range tt.is {
				if !errors.Is(got, target) {
					t.Errorf("%v is no %v", got, target)
				}
			}
			for _, target := range tt.not {
				if errors.Is(got, target) {
					t.Errorf("%v is %v", got, target)
				}
			}
		})
	}
}

// TestPause checks that the duration is random, below the maximum, and ends with the context.
func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := map[time.Duration]bool{}
		for range 20 {
			start := time.Now()
			if err := store.Pause(t.Context(), time.Minute); err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			seen[took] = true
			if took >= time.Minute {
				t.Errorf("it took %v", took)
			}
		}
		if len(seen) < 2 {
			t.Errorf("twenty pauses took the same: %v", seen)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		if err := store.Pause(ctx, 1000*time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("beyond the end of its context: %v", err)
		}
	})
}
