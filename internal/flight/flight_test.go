package flight_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/internal/flight"
)

// TestCallersShareACall: concurrent callers with one key share a call, and a later caller starts another one.
func TestCallersShareACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := flight.Group[int]{Timeout: time.Minute}
		calls := map[string]int{}
		var mu sync.Mutex
		ask := func(key string) {
			v, err := g.Do(t.Context(), key, func(context.Context) (int, error) {
				time.Sleep(time.Second) //nolint:forbidigo // of synctest
				mu.Lock()
				defer mu.Unlock()
				calls[key]++
				return calls[key], nil
			})
			mu.Lock()
			defer mu.Unlock()
			if v != calls[key] || err != nil {
				t.Errorf("a caller got %d, %v", v, err)
			}
		}
		for range 2 {
			var all sync.WaitGroup
			for range 100 {
				all.Go(func() { ask("a") })
				all.Go(func() { ask("b") })
			}
			all.Wait()
		}
		if calls["a"] != 2 || calls["b"] != 2 {
			t.Errorf("calls: %v", calls)
		}
	})
}

type valueKey struct{}

// TestCallersLeave: a call continues without its callers until its timeout, with the values of the first one's context.
func TestCallersLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := flight.Group[int]{Timeout: time.Minute}
		ctx, leave := context.WithCancel(context.WithValue(t.Context(), valueKey{}, "value"))
		began := time.Now()
		ended := make(chan time.Duration, 1)
		wait := g.Start(ctx, "a", func(ctx context.Context) (int, error) {
			if ctx.Value(valueKey{}) != "value" {
				t.Error("the value is missing")
			}
			<-ctx.Done()
			ended <- time.Since(began)
			return 0, ctx.Err()
		})
		leave()
		if _, err := wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who has left got %v", err)
		}
		if _, err := wait(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller who stayed got %v", err)
		}
		if took := <-ended; took != time.Minute {
			t.Errorf("the call took %v", took)
		}
	})
}

// TestFull: at most Max calls are in progress. A caller can still join them.
func TestFull(t *testing.T) {
	t.Parallel()
	g := flight.Group[int]{Timeout: time.Minute, Max: 1}
	started, release := make(chan struct{}), make(chan struct{})
	wait := g.Start(t.Context(), "a", func(context.Context) (int, error) { close(started); <-release; return 1, nil })
	<-started
	if _, err := g.Do(t.Context(), "b", nil); !errors.Is(err, flight.ErrFull) {
		t.Errorf("another call: %v", err)
	}
	joined := g.Start(t.Context(), "a", nil)
	close(release)
	for _, wait := range []func(context.Context) (int, error){wait, joined} {
		if v, err := wait(t.Context()); v != 1 || err != nil {
			t.Errorf("a caller got %d, %v", v, err)
		}
	}
	if v, err := g.Do(t.Context(), "b", func(context.Context) (int, error) { return 2, nil }); v != 2 || err != nil {
		t.Errorf("the next call: %d, %v", v, err)
	}
}

// TestNoResult: a call that panics or ends its goroutine is an error.
func TestNoResult(t *testing.T) {
	t.Parallel()
	g := flight.Group[int]{Timeout: time.Minute}
	for name, end := range map[string]func(){"panic": func() { panic("canary") }, "Goexit": runtime.Goexit} {
		v, err := g.Do(t.Context(), "a", func(context.Context) (int, error) { end(); return 1, nil })
		if err == nil || v != 0 {
			t.Errorf("%s became %d, %v", name, v, err)
		}
	}
}
