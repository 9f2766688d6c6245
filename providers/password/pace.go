package password

import (
	"context"
	"sync"
	"time"
)

const (
	// paceFor is how long a slow comparison counts.
	paceFor = time.Hour
	// paceSlots divide it.
	paceSlots = 12
	// longestPace bounds what a refused sign-in waits: no admitted hash takes as long on a machine that is not overloaded.
	longestPace = 5 * time.Second
)

// pace makes all refused comparisons take the same time, where stored hashes differ in cost: those that other systems
// made, or this package with other parameters. Otherwise the time would reveal which addresses have an account. The
// common minimum is the slowest comparison of the last hour; after an hour without any, that of the hour before.
type pace struct {
	mu sync.Mutex
	// on reports that hashes of several costs exist.
	on bool
	// slots have the slowest comparison of each twelfth of an hour, and which twelfth it is.
	slots [paceSlots]struct {
		number  int64
		slowest time.Duration
	}
	latest time.Duration // the last minimum
}

func slotOf(now time.Time) int64 { return now.UnixNano() / int64(paceFor/paceSlots) }

// record notes how long a comparison took. varied: its hash is not of the usual cost.
func (p *pace) record(now time.Time, took time.Duration, varied bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on = p.on || varied
	number := slotOf(now)
	slot := &p.slots[uint64(number)%paceSlots] //nolint:gosec // any spread will do
	if slot.number != number {
		slot.number, slot.slowest = number, 0
	}
	slot.slowest = max(slot.slowest, min(took, longestPace))
}

// least is how long a refused comparison takes at least; zero if all hashes cost the same.
func (p *pace) least(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on {
		return 0
	}
	number, slowest := slotOf(now), time.Duration(0)
	for _, slot := range p.slots {
		if age := number - slot.number; age >= 0 && age < paceSlots {
			slowest = max(slowest, slot.slowest)
		}
	}
	if slowest > 0 {
		p.latest = slowest
	}
	return p.latest
}

// known reports whether any comparison was recorded.
func (p *pace) known() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, slot := range p.slots {
		if slot.slowest > 0 {
			return true
		}
	}
	return false
}

// sleep waits, or until the client has gone.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
