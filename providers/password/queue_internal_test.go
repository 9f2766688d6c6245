package password

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestQueueBounds fills two slots and their waiting room: nobody computes beside them, the next one is turned away at
// once, and who waits is turned away after three seconds.
func TestQueueBounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(2, 1)
		release := make(chan struct{})
		var inside, most, done, busy atomic.Int64
		var all sync.WaitGroup
		for range 2 + 2*waitingPerSlot {
			all.Go(func() {
				err := q.do(context.Background(), func() {
					most.Store(max(most.Load(), inside.Add(1)))
					<-release
					inside.Add(-1)
				})
				if errors.Is(err, errBusy) {
					busy.Add(1)
				} else if err == nil {
					done.Add(1)
				}
			})
		}
		synctest.Wait()
		if got, want := q.load(), (core.HashLoad{Slots: 2, Busy: 2, Waiting: 2 * waitingPerSlot}); got != want {
			t.Errorf("while all wait the load is %+v, want %+v", got, want)
		}
		began := time.Now()
		if err := q.do(context.Background(), func() {}); !errors.Is(err, errBusy) || time.Since(began) > 0 {
			t.Errorf("one too many: %v after %v", err, time.Since(began))
		}
		time.Sleep(longestWait + time.Millisecond)
		if got := busy.Load(); got != 2*waitingPerSlot {
			t.Errorf("%d were turned away after the longest wait", got)
		}
		close(release)
		all.Wait()
		if done.Load() != 2 || most.Load() != 2 {
			t.Errorf("%d computed, %d at once", done.Load(), most.Load())
		}
		if err := q.do(context.Background(), func() {}); err != nil || q.waiting.Load() != 0 {
			t.Errorf("afterwards: %v, %d wait", err, q.waiting.Load())
		}
		if got, want := q.load(), (core.HashLoad{Slots: 2, Refused: 1 + 2*waitingPerSlot}); got != want {
			t.Errorf("afterwards the load is %+v, want %+v", got, want)
		}
	})
}

// TestQueueForgetsWhoLeaves proves that a visitor who has left takes no slot and no place.
func TestQueueForgetsWhoLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1, 1)
		release := make(chan struct{})
		go func() { _ = q.do(context.Background(), func() { <-release }) }()
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() { left <- q.do(ctx, func() { t.Error("computed for nobody") }) }()
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) || q.waiting.Load() != 0 {
			t.Errorf("%v, %d wait", err, q.waiting.Load())
		}
		close(release)
		synctest.Wait()
		if err := q.do(ctx, func() { t.Error("computed for nobody") }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestQueueOutlivesPanics proves that a slot comes back from work that panics.
func TestQueueOutlivesPanics(t *testing.T) {
	t.Parallel()
	q := newQueue(1, 1)
	func() {
		defer func() { _ = recover() }()
		_ = q.do(t.Context(), func() { panic("verifier") })
	}()
	if err := q.do(t.Context(), func() {}); err != nil {
		t.Error(err)
	}
}

// TestQueueCollects proves that garbage is collected when it is as much as the slots hold, and later in a process where
// much lives.
func TestQueueCollects(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		alive uint64
		want  int
	}{"little lives": {100, 5}, "much lives": {1000, 2}, "far more lives": {1 << 40, 0}} {
		q := newQueue(2, 100)
		collected := 0
		q.collect, q.roomy = func() { collected++ }, func() uint64 { return row.alive }
		for range 10 {
			if err := q.do(t.Context(), func() {}); err != nil {
				t.Fatal(err)
			}
		}
		if collected != row.want {
			t.Errorf("%s: collected %d times, want %d", name, collected, row.want)
		}
	}
}
