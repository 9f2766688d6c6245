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

// Limiter limits attempts if [Callbacks] have no Limit. It counts with token buckets in the memory of this process: for
// each address or name, for each client, and for each combination of the two. Its memory is bounded whatever clients
// send. It starts no goroutine and is safe for concurrent use. Create it with [NewLimiter]. If several processes serve
// one site, each counts separately unless Config.Limits.Shared is set.
//
// The table shows the number of attempts that are allowed immediately, and the interval after which each further
// attempt is allowed. Config.Limits.Rates changes these rates:
//
//	                 one address or name   by one client          one client, in all    in a known browser
//	credentials      50, every 5 minutes   10, every 5 minutes    60, every 10 seconds  10, every 5 minutes
//	in-a-row         100, every 24 hours   50, every 24 hours     -                     100, every 24 hours
//	code             20, every 3 minutes   5, every 3 minutes     20, every 6 seconds   5, every 3 minutes
//	email            10, every 15 minutes  5, every 15 minutes    60, every 20 seconds  5, every 15 minutes
//	email-token      50, every 30 minutes  5, every 30 minutes    30, every minute      5, every 30 minutes
//	mail             10, every 2 minutes   3, every 2 minutes     10, every minute      3, every 2 minutes
//	sign-up          -                     -                      5, every 5 minutes    -
//	webauthn-options -                     -                      120, every second     120, every second
//
// Attempts of email-token count for the address only if the token could be guessed ([LimitParams].Guessable). A refused
// attempt is not counted. A correct attempt is removed from the counts; a correct attempt of in-a-row resets its
// counts.
//
// An IPv6 client is counted by its /64 network, and by the /56 and /48 networks around it, which are allowed twice and
// three times as much. All of these together with one IPv4 client cannot use up the limit of an address, so that an
// attacker in one household cannot lock out the owner.
//
// Attempts in known browsers (Config.Limits.KnownBrowsers) have separate buckets: one for the browser and the name; one
// for the name in all its known browsers, of the size in the first column; and one for the client, of the size in the
// third column. So attackers elsewhere cannot lock the owner out of a known browser, and a user cannot get more
// attempts by making more browsers known.
//
// A client is identified only if PeerIsVisitor is true. Otherwise it is unidentified, for example if it sends a proxy's
// header while [Config].TrustedProxies is not set. All unidentified clients together have a separate bucket for each
// address or name, and one bucket for all their attempts, which allows ten times as much as one client.
type Limiter struct {
	now   func() time.Time
	seed  maphash.Seed
	rates map[Attempt]Rates

	mu    sync.Mutex
	pools map[poolKey]*bucketPool
}

// poolKey identifies a pool: the kind of attempt, and whether it has only the buckets that count a name for all
// clients.
type poolKey struct {
	attempt Attempt
	names   bool
}

// NewLimiter returns a Limiter with empty counts. now is its clock, for tests. If now is nil, the system clock is used.
func NewLimiter(now func() time.Time) *Limiter { return newLimiter(now, nil) }

func newLimiter(now func() time.Time, changed map[Attempt]Rates) *Limiter {
	if now == nil {
		now = time.Now //nolint:forbidigo // the default clock
	}
	return &Limiter{now: now, seed: maphash.MakeSeed(), rates: changed, pools: map[poolKey]*bucketPool{}}
}

// counted is a bucket that an attempt is counted in.
type counted struct {
	Rate
	kind string // the key that it counts: "peer", "identifier", …
	peer string
	name string
	key  uint64
}

// refillTime returns the time in which an empty bucket becomes full.
func (b *counted) refillTime() time.Duration { return time.Duration(b.Burst) * b.Every }

// waitTime returns the wait before the next attempt, given the time until the bucket is full (debt).
func (b *counted) waitTime(debt time.Duration) time.Duration {
	return debt - time.Duration(b.Burst-1)*b.Every
}

// debtOf returns the time until a bucket is full. It is at most that of an empty bucket, so that a clock that was set
// back cannot extend the wait.
func (b *counted) debtOf(full int64, now time.Time) time.Duration {
	return min(max(0, time.Duration(full-now.UnixNano())), b.refillTime())
}

// maxBuckets is the maximum number of buckets of one attempt.
const maxBuckets = 1 + 2*len(clientWidths)

// buckets returns the buckets that an attempt is counted in.
func (l *Limiter) buckets(p LimitParams) (all [maxBuckets]counted, n int) {
	rates := ratesOf(l.rates, p.Attempt)
	named := p.Identifier != ""
	if p.Attempt == AttemptEmailToken {
		named = p.Guessable // even without an address, because a store may find a token without one
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
	if !p.Peer.IsValid() { // limits.clear resets only the buckets of the name
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

// unidentifiedClients is the number of clients that all unidentified clients together are counted as.
const unidentifiedClients = 10

// times returns the rate of n clients together.
func (r Rate) times(n int) Rate { return Rate{r.Burst * n, r.Every / time.Duration(n)} }

// wide returns the rate of an IPv6 network that is i steps wider than a client's /64. It is the rate of i+1 clients,
// limited by all if that is not zero. all is the size of the bucket that all clients share: one network together with
// one IPv4 client must never empty it, however long they continue.
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

// countedName returns the spelling of a name that a [Limiter] counts: in lower case, without accents and invisible
// characters. A database collation may ignore these differences, so that unlimited spellings find the same row. Each
// spelling would otherwise have a separate count. Two users whose names become equal share a count.
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

// plainName reports whether a name equals its counted spelling. Almost all names do.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return true
}

// path returns the texts that identify a bucket. The name is last because it can contain any character.
func (b *counted) path(a Attempt) [4]string { return [4]string{b.kind, string(a), b.peer, b.name} }

// Limit has the type of [Callbacks].Limit. It counts an attempt and returns 0, or returns the time until it is allowed.
func (l *Limiter) Limit(_ context.Context, p LimitParams) (wait time.Duration, err error) {
	all, n := l.buckets(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for i := range all[:n] {
		b := &all[i]
		wait = max(wait, b.waitTime(b.debtOf(l.pool(p.Attempt, b).level(b.key).full, now)))
	}
	if wait > 0 {
		return wait, nil
	}
	for i := range all[:n] {
		l.pool(p.Attempt, &all[i]).change(&all[i], now, all[i].Every)
	}
	return 0, nil
}

// Forgive has the type of [Callbacks].Forgive. It removes a correct attempt from the counts.
func (l *Limiter) Forgive(_ context.Context, p LimitParams) {
	l.giveBack(p, p.Attempt == AttemptInARow)
}

// giveBack removes an attempt from its buckets. If whole is true, it removes all attempts.
func (l *Limiter) giveBack(p LimitParams, whole bool) {
	all, n := l.buckets(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for i := range all[:n] {
		l.pool(p.Attempt, &all[i]).change(&all[i], now, -all[i].share(whole))
	}
}

// share returns the part of a bucket that one attempt takes, or all of it if whole is true.
func (b *counted) share(whole bool) time.Duration {
	if whole {
		return b.refillTime()
	}
	return b.Every
}

// pool returns the pool of a bucket. The caller holds l.mu. The counts of wrong attempts in a row for a name have a
// separate pool, so that the buckets of an attacker's networks cannot displace them.
func (l *Limiter) pool(a Attempt, b *counted) *bucketPool {
	key := poolKey{a, a == AttemptInARow && b.peer == ""}
	p := l.pools[key]
	if p == nil {
		p = newBucketPool(key)
		l.pools[key] = p
	}
	return p
}

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
