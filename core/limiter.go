package core

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Limiter limits attempts where [Callbacks] have no Limit. It counts in token buckets, in the memory of this process:
// for each address or name, for each client, and for the two together. Its memory is bounded whatever clients send, it
// starts no goroutine, and it is safe for concurrent use. Make it with [NewLimiter]. If several processes serve one
// site each has its own count, unless Config.Limits.Shared is set.
//
// The table shows the number of attempts that are allowed at once, and the interval after which each further attempt is
// allowed. Config.Limits.Rates changes it:
//
//	                   one address or name    by one client         one client, in all    in a known browser
//	credentials        50, every 5 minutes    10, every 5 minutes   60, every 10 seconds   10, every 5 minutes
//	in-a-row           100, every 24 hours  50, every 24 hours   -                      100, every 24 hours
//	code               20, every 3 minutes    5, every 3 minutes    20, every 6 seconds    5, every 3 minutes
//	email              10, every 15 minutes   5, every 15 minutes   60, every 20 seconds   5, every 15 minutes
//	email-token        50, every 30 minutes   5, every 30 minutes   30, every minute       5, every 30 minutes
//	mail               10, every 2 minutes    3, every 2 minutes    10, every minute       3, every 2 minutes
//	sign-up            -                      -                     5, every 5 minutes     -
//	webauthn-options   -                      -                     120, every second      120, every second
//
// Attempts of email-token count against the address only where the token could be guessed ([LimitParams].Guessable). A
// refused attempt is not counted, and one that was right is given back, of in-a-row with all that came before it.
//
// An IPv6 client is counted by its /64, and by the /56 and /48 around it, which are allowed twice and three times as
// much. All of these and one IPv4 client together do not use up what an address may do, so that an attacker in one
// household cannot lock its owner out.
//
// Attempts in known browsers (Config.Limits.KnownBrowsers) have buckets of their own: one for the browser and the name,
// one for the name in all its known browsers, of the size in the first column, and one for the client, of the size in
// the third. So attackers elsewhere cannot lock the owner out of a known browser, and a user who makes more and more
// browsers known gets no more attempts.
//
// Clients are identified only if PeerIsVisitor is true. Otherwise, and if a client sends a proxy's header while
// [Config].TrustedProxies is not set, the client is unidentified. All unidentified clients together have a bucket for
// each address or name, which is not the one of identified clients, and one in all, which allows ten times as much as
// one client has.
type Limiter struct {
	now   func() time.Time
	seed  maphash.Seed
	rates map[Attempt]Rates

	mu    sync.Mutex
	pools map[poolKey]*bucketPool
}

// poolKey names a pool: an attempt, of which the buckets of a name alone can be apart.
type poolKey struct {
	attempt Attempt
	names   bool
}

// NewLimiter returns a Limiter that has counted nothing. now is its clock, for tests; nil: that of the system.
func NewLimiter(now func() time.Time) *Limiter { return newLimiter(now, nil) }

func newLimiter(now func() time.Time, changed map[Attempt]Rates) *Limiter {
	if now == nil {
		now = time.Now //nolint:forbidigo // the default of a clock that can be set
	}
	return &Limiter{now: now, seed: maphash.MakeSeed(), rates: changed, pools: map[poolKey]*bucketPool{}}
}

// counted is a bucket of an attempt, and its name.
type counted struct {
	Rate
	kind string // by what it counts
	peer string
	name string
	key  uint64
}

// takes is how long an empty bucket takes to be full.
func (b *counted) takes() time.Duration { return time.Duration(b.Burst) * b.Every }

// patience is how long an attempt has to wait for a bucket that is full again after debt.
func (b *counted) patience(debt time.Duration) time.Duration {
	return debt - time.Duration(b.Burst-1)*b.Every
}

// debtOf is how long a bucket takes to be full again. A clock that was set back makes no attempt wait longer than an
// empty bucket.
func (b *counted) debtOf(full int64, now time.Time) time.Duration {
	return min(max(0, time.Duration(full-now.UnixNano())), b.takes())
}

// maxBuckets is the number of buckets of one attempt.
const maxBuckets = 1 + 2*len(clientWidths)

// buckets returns the buckets of an attempt.
func (l *Limiter) buckets(p LimitParams) (all [maxBuckets]counted, n int) {
	rates := ratesOf(l.rates, p.Attempt)
	named := p.Identifier != ""
	if p.Attempt == AttemptEmailToken {
		named = p.Guessable // for a link without an address too, which stores may find by its token alone
	}
	p.Identifier = countedName(p.Identifier)
	add := func(rate Rate, kind, peer, name string) {
		if rate.Every <= 0 {
			return
		}
		b := counted{Rate: rate, kind: kind, peer: peer, name: name}
		var h maphash.Hash
		h.SetSeed(l.seed)
		for _, part := range b.path(p.Attempt) {
			_, _ = h.WriteString(part)
			_ = h.WriteByte(0)
		}
		b.key = h.Sum64()
		all[n] = b
		n++
	}
	known, group := p.Browser != "" && rates.Browser.Every > 0, ""
	switch {
	case known:
		group = "known-"
		add(rates.Browser, "browser", p.Browser, p.Identifier)
		if named {
			add(rates.Identifier, "known", "", p.Identifier)
		}
	case named && !p.PeerIsVisitor:
		add(rates.Identifier, "unidentified", "", p.Identifier)
	case named:
		add(rates.Identifier, "identifier", "", p.Identifier)
	}
	if !p.PeerIsVisitor {
		add(rates.Network.times(unidentifiedClients), group+"unidentified-all", "", "")
		return all, n
	}
	if !p.Peer.IsValid() { // limits.clear forgives what stands against a name alone
		return all, n
	}
	for i, network := range (client{p.Peer, true}).widths() {
		peer := network.String()
		add(rates.Network.wide(i, 0), group+"peer", peer, "")
		if named && !known {
			add(rates.Visitor.wide(i, rates.Identifier.Burst), "both", peer, p.Identifier)
		}
	}
	return all, n
}

// unidentifiedClients is how many clients the unidentified ones together count as.
const unidentifiedClients = 10

// times is the rate of n clients together.
func (r Rate) times(n int) Rate { return Rate{r.Burst * n, r.Every / time.Duration(n)} }

// wide is the rate of an IPv6 network that is i steps wider than a client's /64. It allows as much as i+1 clients,
// unless all, the size of the bucket that all clients share, is not zero. That bucket must not become empty because of
// one network together with one IPv4 client, however long they continue.
func (r Rate) wide(i, all int) Rate {
	if i == 0 || r.Every <= 0 {
		return r
	}
	if all == 0 {
		return r.times(i + 1)
	}
	if left := all - r.Burst - 1; left > 0 {
		return Rate{min(r.Burst*(i+1), left), r.Every}
	}
	return r
}

// countedName is the spelling of a name under which a [Limiter] counts: without accents, invisible characters and the
// difference between upper and lower case. Tables whose collation knows none of these find one row under spellings
// without end, each of which would else have a count of its own. Two people whose names become one share a count.
func countedName(name string) string {
	if plainName(name) {
		return name
	}
	invisible := func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return unicode.ToLower(r)
	}
	return strings.TrimSpace(strings.Map(invisible, norm.NFKD.String(name)))
}

// plainName reports whether a name is its own counted spelling, as nearly all are.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return true
}

// path names a bucket. The identifier can hold anything: it comes last.
func (b *counted) path(a Attempt) [4]string { return [4]string{b.kind, string(a), b.peer, b.name} }

// Limit has the type of [Callbacks].Limit. It counts and allows an attempt, or returns the time until it is allowed.
func (l *Limiter) Limit(_ context.Context, p LimitParams) (wait time.Duration, err error) {
	all, n := l.buckets(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for i := range all[:n] {
		b := &all[i]
		wait = max(wait, b.patience(b.debtOf(l.pool(p.Attempt, b).level(b.key).full, now)))
	}
	if wait > 0 {
		return wait, nil
	}
	for i := range all[:n] {
		l.pool(p.Attempt, &all[i]).change(&all[i], now, all[i].Every)
	}
	return 0, nil
}

// Forgive has the type of [Callbacks].Forgive: an attempt that was right counts no longer.
func (l *Limiter) Forgive(_ context.Context, p LimitParams) {
	l.giveBack(p, p.Attempt == AttemptInARow)
}

// giveBack removes an attempt from its buckets, or all attempts.
func (l *Limiter) giveBack(p LimitParams, whole bool) {
	all, n := l.buckets(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for i := range all[:n] {
		l.pool(p.Attempt, &all[i]).change(&all[i], now, -all[i].share(whole))
	}
}

// share is the part of a bucket that one attempt takes, or the whole of it.
func (b *counted) share(whole bool) time.Duration {
	if whole {
		return b.takes()
	}
	return b.Every
}

// pool returns the pool of a bucket. l.mu is locked. The count of wrong attempts in a row at a name has its own, in
// which an attacker's buckets for their networks take no room.
func (l *Limiter) pool(a Attempt, b *counted) *bucketPool {
	key := poolKey{a, a == AttemptInARow && b.peer == ""}
	p := l.pools[key]
	if p == nil {
		p = newBucketPool(key)
		l.pools[key] = p
	}
	return p
}

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
