package password

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

const (
	// waitingPerSlot is how many may wait for each hash that is computed, longestWait how long.
	waitingPerSlot = 64
	longestWait    = 3 * time.Second
)

// errBusy is returned to whom would have to wait too long.
var errBusy = errors.New("password: too many passwords are being checked at once")

// queue bounds how many hashes are computed at the same time. A hash needs its memory and a processor for tens of
// milliseconds, so an unbounded number of them is an attack on both. Those who wait hold nothing but their request.
//
// Peak heap: the garbage collector lets the heap grow to twice what lives (GOGC=100), hence 2 × slots × memory of a
// hash, beside what the process has anyway. Nothing of a hash outlives it.
type queue struct {
	slots   chan struct{}
	waiting atomic.Int64
	wait    time.Duration
}

func newQueue(slots int) *queue { return &queue{slots: make(chan struct{}, slots), wait: longestWait} }

// do runs work when there is a slot. It returns errBusy when too many wait already or the wait takes too long, and the
// context's error when the visitor has left.
func (q *queue) do(ctx context.Context, work func()) error {
	if err := q.enter(ctx); err != nil {
		return err
	}
	defer func() { <-q.slots }()
	work()
	return nil
}

func (q *queue) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case q.slots <- struct{}{}:
		return nil
	default:
	}
	defer q.waiting.Add(-1)
	if q.waiting.Add(1) > int64(waitingPerSlot*cap(q.slots)) {
		return errBusy
	}
	soon := time.NewTimer(q.wait)
	defer soon.Stop()
	select {
	case q.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-soon.C:
		return errBusy
	}
}
