package limit

import (
	"slices"
	"time"
)

// bucketPool contains the buckets of one kind of attempt, so that a flood of one kind cannot evict the buckets of
// another. Its size is bounded. A new bucket never evicts a bucket that makes attempts wait, nor an in-a-row bucket of
// a name. A bucket that does not fit shares one of a few shared buckets with others.
type bucketPool struct {
	levels map[uint64]level
	most   int
	// fullOnly reports whether only full buckets are evicted.
	fullOnly bool
	// shared contains the buckets that did not fit, by a hash of the key. It is nil if all buckets fit.
	shared []level
	// nextEvict is the earliest time of the next search for buckets to evict.
	nextEvict time.Time
}

// level is the state of a bucket that is not full.
type level struct {
	full       int64 // the time when it becomes full, in Unix nanoseconds
	refillTime int64 // the time that an empty bucket needs to become full, in nanoseconds
	every      int64 // the time that one attempt needs to be refilled, in nanoseconds
}

// The sizes of a pool. 16384 buckets use 400 kB; the in-a-row pool of names is twice as large. The networks of one IPv6
// /48 cannot fill a pool.
const (
	maxLevels   = 1 << 14
	maxInARow   = 1 << 15
	sharedSlots = 1 << 10
	evictEvery  = 10 * time.Second
)

func newBucketPool(key poolKey) *bucketPool {
	p := &bucketPool{levels: map[uint64]level{}, most: maxLevels}
	if key.names {
		p.most, p.fullOnly = maxInARow, true
	}
	return p
}

// level returns the state of a bucket. The zero level means full.
func (p *bucketPool) level(key uint64) level {
	if v, ok := p.levels[key]; ok || p.shared == nil {
		return v
	}
	return p.shared[key%sharedSlots]
}

// change adds a duration, which may be negative, to the time until a bucket is full.
func (p *bucketPool) change(b *counted, now time.Time, by time.Duration) {
	debt := max(0, b.debtOf(p.level(b.key).full, now)+by)
	if debt > 0 {
		p.set(b, now.Add(debt).UnixNano(), now)
	} else if _, own := p.levels[b.key]; own {
		delete(p.levels, b.key)
	} else if p.shared != nil {
		p.shared[b.key%sharedSlots] = level{}
	}
}

// set stores the time when a bucket becomes full.
func (p *bucketPool) set(b *counted, full int64, now time.Time) {
	v := level{full: full, refillTime: int64(b.refillTime()), every: int64(b.Every)}
	if _, own := p.levels[b.key]; !own && len(p.levels) >= p.most {
		if p.evict(now); len(p.levels) >= p.most {
			if p.shared == nil {
				p.shared = make([]level, sharedSlots)
			}
			p.shared[b.key%sharedSlots] = v
			return
		}
	}
	p.levels[b.key] = v
}

// evict frees space. It deletes all full buckets. Unless fullOnly is true, it also deletes up to a quarter of all
// buckets: those that are nearest to full and make no attempt wait. It builds a new map, because a Go map with many
// insertions and deletions keeps growing. If it freed almost nothing, it is not repeated for evictEvery, so that a
// flood does not pay for it each time.
func (p *bucketPool) evict(now time.Time) {
	if now.Before(p.nextEvict) && p.nextEvict.Sub(now) <= evictEvery {
		return
	}
	at := now.UnixNano()
	var evictable []float64
	for _, v := range p.levels {
		if v.full <= at || !p.fullOnly && !v.waits(at) {
			evictable = append(evictable, v.emptiness(at))
		}
	}
	slices.Sort(evictable)
	room := min(p.most/4, len(evictable))
	limit := -1.0
	if room > 0 {
		limit = evictable[room-1]
	}
	kept := make(map[uint64]level, p.most)
	for key, v := range p.levels {
		evicted := v.full <= at
		if !evicted && room > 0 && !p.fullOnly && !v.waits(at) && v.emptiness(at) <= limit {
			evicted = true
			room--
		}
		if !evicted {
			kept[key] = v
		}
	}
	if len(p.levels)-len(kept) < p.most/16 {
		p.nextEvict = now.Add(evictEvery)
	}
	p.levels = kept
	p.forgetShared(at)
}

// forgetShared drops the shared buckets if all of them are full.
func (p *bucketPool) forgetShared(at int64) {
	if !slices.ContainsFunc(p.shared, func(v level) bool { return v.full > at }) {
		p.shared = nil
	}
}

// waits reports whether a bucket makes the next attempt wait.
func (v level) waits(at int64) bool { return v.full-at > v.refillTime-v.every }

// emptiness is 0 or less for a full bucket, and 1 for an empty one, which has the longest wait.
func (v level) emptiness(at int64) float64 { return float64(v.full-at) / float64(v.refillTime) }
