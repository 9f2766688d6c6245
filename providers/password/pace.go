package password

import (
	"context"
	"sync"
	"time"
)

const (
	// paceWindow is the time that a slow comparison counts.
	paceWindow = time.Hour
	// paceSlots is the number of slots of paceWindow.
	paceSlots = 12
	// maxPace is the maximum delay of a rejected sign-in. An accepted hash takes longer only on an overloaded machine.
	maxPace = 5 * time.Second
)

// pace makes all rejected comparisons take the same time if the stored hashes have different costs, because they are
// from other systems or have other parameters. Otherwise the response time would reveal which addresses have an
// account. The common duration is that of the slowest comparison in the last hour. After an hour without comparisons
// the previous value stays.
type pace struct {
	mu sync.Mutex
	// on reports whether hashes with several costs exist.
	on bool
	// slots contains the slowest comparison of each five minutes, and the number of that interval.
	slots [paceSlots]struct {
		number  int64
		slowest time.Duration
	}
	latest time.Duration // the last common duration
}

func slotOf(now time.Time) int64 { return now.UnixNano() / int64(paceWindow/paceSlots) }

// record stores the duration of a comparison. varied reports whether its hash has other costs than configured.
func (p *pace) record(now time.Time, took time.Duration, varied bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on = p.on || varied
	number := slotOf(now)
	slot := &p.slots[uint64(number)%paceSlots] //nolint:gosec // the hash only spreads
	if slot.number != number {
		slot.number, slot.slowest = number, 0
	}
	slot.slowest = max(slot.slowest, min(took, maxPace))
}

// minimum returns the minimum duration of a rejected comparison, or zero if all hashes have the same costs.
func (p *pace) minimum(now time.Time) time.Duration {
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

// sleep waits for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
