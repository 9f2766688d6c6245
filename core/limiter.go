package core

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// Limiter is what limits attempts where [Callbacks] have no Limit: a token bucket per address or name, per visitor, and
// per the two together, in the memory of this process. It holds a bounded number of them whatever visitors type, starts
// no goroutine, and is safe for concurrent use. Make it with [NewLimiter]; where several processes serve one site, each
// has its own count.
//
// What may be done at once, and how soon again afterwards:
//
//	                   one address or name    by one visitor       one visitor, in all
//	credentials        50, every 5 minutes    10, every 5 minutes   60, every 10 seconds
//	email              10, every 15 minutes   5, every 15 minutes   60, every 20 seconds
//	email-token        50, every 30 minutes   5, every 30 minutes   30, every minute
//	webauthn-options   -                      -                    120, every second
//
// Attempts of email-token count against the address only where the token could be guessed ([LimitParams].Guessable). A
// refused attempt is not counted. One visitor alone does not use up what an address may do, so that a stranger at one
// place cannot lock its owner out. Visitors are told apart only where PeerIsVisitor says so: elsewhere, and for one who
// sends the header of a proxy where [Config].TrustedProxies is not set, the first column alone counts.
type Limiter struct {
	now  func() time.Time
	seed maphash.Seed

	mu sync.Mutex
	// young and old hold when each bucket is full again, in Unix nanoseconds. A generation ends when it is large or old;
	// what was not asked for during a whole one is forgotten.
	young, old map[uint64]int64
	until      time.Time
}

// NewLimiter returns a Limiter that has counted nothing. now is its clock, for tests; nil: that of the system.
func NewLimiter(now func() time.Time) *Limiter {
	if now == nil {
		now = time.Now //nolint:forbidigo // the default of a clock that can be set
	}
	return &Limiter{now: now, seed: maphash.MakeSeed()}
}

// maxBuckets is how many buckets a generation holds.
const maxBuckets = 1 << 15

// bucket is an allowance: so many at once, then one after each interval. The zero value allows everything.
type bucket struct {
	burst int64
	every time.Duration
}

// allowance is what an attempt may use up.
type allowance struct{ identifier, both, peer bucket }

// allowanceOf returns the allowance of an attempt. What both together get back in a while is no more than the
// identifier does.
func allowanceOf(a Attempt) allowance {
	switch a {
	case AttemptCredentials:
		return allowance{bucket{50, 5 * time.Minute}, bucket{10, 5 * time.Minute}, bucket{60, 10 * time.Second}}
	case AttemptEmail:
		return allowance{bucket{10, 15 * time.Minute}, bucket{5, 15 * time.Minute}, bucket{60, 20 * time.Second}}
	case AttemptEmailToken:
		return allowance{bucket{50, 30 * time.Minute}, bucket{5, 30 * time.Minute}, bucket{30, time.Minute}}
	case AttemptWebAuthn:
		return allowance{peer: bucket{120, time.Second}}
	}
	return allowance{}
}

// generation is how long a bucket takes at most to be full again.
const generation = 50 * 30 * time.Minute

// counted is a bucket of an attempt, and its name.
type counted struct {
	bucket
	key uint64
}

// buckets lists what an attempt is counted by.
func (l *Limiter) buckets(p LimitParams) (all [3]counted) {
	a := allowanceOf(p.Attempt)
	named := p.Identifier != ""
	if p.Attempt == AttemptEmailToken {
		named = p.Guessable // for a link without an address too, which stores may find by its token alone
	}
	key := func(kind, identifier, peer string) uint64 {
		var h maphash.Hash
		h.SetSeed(l.seed)
		// The identifier can hold anything: it comes last.
		for _, part := range []string{kind, string(p.Attempt), peer, identifier} {
			_, _ = h.WriteString(part)
			_ = h.WriteByte(0)
		}
		return h.Sum64()
	}
	if named {
		all[0] = counted{a.identifier, key("identifier", p.Identifier, "")}
	}
	if p.PeerIsVisitor && p.Peer.IsValid() {
		peer := p.Peer.String()
		all[1] = counted{a.peer, key("peer", "", peer)}
		if named {
			all[2] = counted{a.both, key("both", p.Identifier, peer)}
		}
	}
	return all
}

// Limit has the type of [Callbacks].Limit: it counts the attempt and lets it go on, or says how long to wait.
func (l *Limiter) Limit(_ context.Context, p LimitParams) (wait time.Duration, err error) {
	all := l.buckets(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.age(now)
	for _, b := range all {
		if b.every > 0 {
			wait = max(wait, l.debt(b, now)-time.Duration(b.burst-1)*b.every)
		}
	}
	if wait > 0 {
		return wait, nil
	}
	for _, b := range all {
		if b.every > 0 {
			l.young[b.key] = now.Add(l.debt(b, now) + b.every).UnixNano()
		}
	}
	return 0, nil
}

// Forgive has the type of [Callbacks].Forgive: an attempt that was right counts no longer.
func (l *Limiter) Forgive(_ context.Context, p LimitParams) {
	all := l.buckets(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.age(now)
	for _, b := range all {
		if b.every > 0 {
			l.young[b.key] = now.Add(max(0, l.debt(b, now)-b.every)).UnixNano()
		}
	}
}

// debt is how long a bucket takes to be full again. A clock that was set back makes no attempt wait longer than an
// empty bucket.
func (l *Limiter) debt(b counted, now time.Time) time.Duration {
	full, young := l.young[b.key]
	if !young {
		full = l.old[b.key]
		if full != 0 {
			l.young[b.key] = full
		}
	}
	return min(max(0, time.Duration(full-now.UnixNano())), time.Duration(b.burst)*b.every)
}

// age begins a new generation when the present one has become large or old.
func (l *Limiter) age(now time.Time) {
	if l.young == nil || len(l.young) >= maxBuckets || now.After(l.until) {
		l.old, l.young, l.until = l.young, map[uint64]int64{}, now.Add(generation)
	}
}
