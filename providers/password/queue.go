package password

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core"
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
// The memory of a hash is garbage when it is done, and the garbage collector comes late: on a busy machine six times
// the memory of a hash were taken by two slots. So the queue counts what it leaves behind, and collects when that is
// as much as its slots hold: at most 2 × slots × memory of a hash are taken, beside what the process has anyway.
type queue struct {
	slots   chan struct{}
	waiting atomic.Int64
	refused atomic.Uint64
	wait    time.Duration

	memory  uint64 // of a hash, in bytes
	mu      sync.Mutex
	garbage uint64
	// collect is runtime.GC. roomy is what the process has alive: garbage of less than half of that is left alone, as
	// collecting costs in proportion to what lives.
	collect func()
	roomy   func() uint64
}

func newQueue(slots int, memory uint64) *queue {
	return &queue{
		slots: make(chan struct{}, slots), wait: longestWait, memory: memory, collect: runtime.GC, roomy: alive,
	}
}

// alive is how many bytes lived when the garbage collector looked last.
func alive() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// do runs work when there is a slot. It returns errBusy when too many wait already or the wait takes too long, and the
// context's error when the visitor has left.
func (q *queue) do(ctx context.Context, work func()) error {
	if err := q.enter(ctx); err != nil {
		if errors.Is(err, errBusy) {
			q.refused.Add(1)
		}
		return err
	}
	defer func() { <-q.slots }()
	defer q.left() // while the slot is still taken
	work()
	return nil
}

// load is how busy it is.
func (q *queue) load() core.HashLoad {
	return core.HashLoad{
		Slots: cap(q.slots), Busy: len(q.slots), Waiting: int(q.waiting.Load()), Refused: q.refused.Load(),
	}
}

// left notes the garbage of a hash.
func (q *queue) left() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.garbage += q.memory
	most := uint64(cap(q.slots)) * q.memory
	if q.garbage >= most && q.garbage >= q.roomy()/2 {
		q.collect()
		q.garbage = 0
	}
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
