package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// TestReady: calls that are ready at the same time form a batch, although the limit is not reached. A call that arrives
// after the start of a batch, or when a batch is full, does not wait for it.
func TestReady(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit, ready, leave int
		trips               []int
	}{
		"one":                      {3, 1, 0, []int{1}},
		"two":                      {3, 2, 0, []int{2}},
		"as many as there is room": {3, Most, 0, []int{Most}},
		"more, as a second call":   {3, Most + 2, 0, []int{2, Most}},
		"more, at the limit":       {1, Most + 2, 0, []int{2, Most}},
		"two, of whom one leaves":  {3, 3, 1, []int{3}},
		"all but the first leave":  {3, 3, 2, []int{3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var trips []int
				ask := func(ctx context.Context, n int) error {
					mu.Lock()
					defer mu.Unlock()
					trips = append(trips, n)
					return ctx.Err()
				}
				calls := New(c.limit, func(ctx context.Context, _ int) error { return ask(ctx, 1) },
					func(ctx context.Context, all []int) error { return ask(ctx, len(all)) })
				others := make(chan struct{})
				calls.yield = func() { <-others } // until all calls have arrived
				var all sync.WaitGroup
				for i := range c.ready {
					ctx, leave := context.WithCancel(t.Context())
					defer leave()
					left := i > 0 && i <= c.leave
					all.Go(func() {
						if err := calls.Do(ctx, i); (err != nil) != left {
							t.Errorf("%d: %v", i, err)
						}
					})
					synctest.Wait()
					if left {
						leave()
						synctest.Wait()
					}
				}
				close(others)
				all.Wait()
				synctest.Wait()
				slices.Sort(trips)
				if fmt.Sprint(trips) != fmt.Sprint(c.trips) || calls.running != 0 || calls.open != nil || len(calls.queue) > 0 {
					t.Errorf("round trips of %v, want %v; afterwards %d calls are running", trips, c.trips, calls.running)
				}
			})
		})
	}
}

// TestCanceledCallFreesItsSlot: if a call is canceled when it may start, the next group starts.
func TestCanceledCallFreesItsSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := New(1, func(context.Context, int) error { return nil }, nil)
		calls.running = 1 // by a call that is about to complete
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		left := make(chan error, 1)
		go func() { left <- calls.Do(ctx, 1) }()
		synctest.Wait()
		calls.mu.Lock()
		leave()
		calls.pass()
		calls.mu.Unlock()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if calls.running != 0 {
			t.Errorf("%d calls are running", calls.running)
		}
	})
}
