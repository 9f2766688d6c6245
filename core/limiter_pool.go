package core

import (
	"slices"
	"time"
)

// bucketPool holds the buckets of one attempt, so that a flood of one attempt cannot evict the buckets of another. Its
// size is bounded. A bucket that makes attempts wait is never evicted for a new one, nor is that of a name in in-a-row:
// a bucket that finds no place shares one of a few with others.
type bucketPool struct {
	levels map[uint64]level
	most   int
	// keeps reports that buckets are not evicted before they are full again.
	keeps bool
	// shared are the buckets of names that found no place, by the hash of the name; nil if all have found one.
	shared []level
	// nextEvict is when a full pool is searched for room again.
	nextEvict time.Time
}

// level is the state of a bucket that is not full.
type level struct {
	full  int64 // when it is full again, in Unix nanoseconds
	takes int64 // how long an empty bucket takes to be full, in nanoseconds
	every int64 // how long one attempt takes
}

// Sizes of a pool: 400 kB for an attempt, twice as much for the names of in-a-row. One IPv6 /48 cannot fill that.
const (
	maxLevels   = 1 << 14
	maxInARow   = 1 << 15
	sharedSlots = 1 << 10
	evictEvery  = 10 * time.Second
)

func newBucketPool(key poolKey) *bucketPool {
	p := &bucketPool{levels: map[uint64]level{}, most: maxLevels}
	if key.names {
		p.most, p.keeps = maxInARow, true
	}
	return p
}

// level returns the state of a bucket. The zero level is full.
func (p *bucketPool) level(key uint64) level {
	if v, ok := p.levels[key]; ok || p.shared == nil {
		return v
	}
	return p.shared[key%sharedSlots]
}

// change adds to the debt of a bucket.
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

// set stores when a bucket is full again.
func (p *bucketPool) set(b *counted, full int64, now time.Time) {
	v := level{full: full, takes: int64(b.takes()), every: int64(b.Every)}
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

// evict makes room: it deletes the buckets that are full again and then, where that is allowed, a quarter of all, those
// that are nearest to full and make no attempt wait. The map is made again, because one in which entries come and go
// grows. A search that found nearly nothing is not repeated for a while, so that a flood does not pay for it.
func (p *bucketPool) evict(now time.Time) {
	if now.Before(p.nextEvict) && p.nextEvict.Sub(now) <= evictEvery {
		return
	}
	at := now.UnixNano()
	var evictable []float64
	for _, v := range p.levels {
		if v.full <= at || !p.keeps && !v.waits(at) {
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
		if !evicted && room > 0 && !p.keeps && !v.waits(at) && v.emptiness(at) <= limit {
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

// forgetShared drops the shared buckets once all of them are full.
func (p *bucketPool) forgetShared(at int64) {
	if !slices.ContainsFunc(p.shared, func(v level) bool { return v.full > at }) {
		p.shared = nil
	}
}

// waits reports whether a bucket makes an attempt wait.
func (v level) waits(at int64) bool { return v.full-at > v.takes-v.every }

// emptiness is 0 or less for a full bucket. It is 1 for an empty bucket, at which an attempt has the longest wait.
func (v level) emptiness(at int64) float64 { return float64(v.full-at) / float64(v.takes) }
