package limit

import (
	"context"
	"hash/maphash"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Limiter is the default of core.Callbacks.Limit. It counts with token buckets in the memory of this process: for each
// address or name, for each client, and for each combination of the two. Its memory is bounded whatever clients send.
// It starts no goroutine and is safe for concurrent use. Create it with [New]. If several processes serve one site,
// each counts separately; [Shared] counts for all of them.
//
// The table shows the number of attempts that are allowed immediately, and the interval after which each further
// attempt is allowed. core.Config.Limits.Rates changes these rates:
//
//	                 one address or name   by one client          one client, in all    in a known browser
//	credentials      50, every 5 minutes   10, every 5 minutes    60, every 10 seconds  10, every 5 minutes
//	in-a-row         100, every 24 hours   50, every 24 hours     -                     100, every 24 hours
//	code             10, every 40 minutes  5, every 40 minutes    20, every 6 seconds   5, every 40 minutes
//	email            10, every 15 minutes  5, every 15 minutes    60, every 20 seconds  5, every 15 minutes
//	email-token      50, every 30 minutes  5, every 30 minutes    30, every minute      5, every 30 minutes
//	key              -                     -                      20, every 3 seconds   -
//	key-use          -                     -                      -                     -
//	mail             10, every 2 minutes   3, every 2 minutes     10, every minute      3, every 2 minutes
//	sign-up          -                     -                      5, every 5 minutes    -
//	webauthn-options -                     -                      120, every second     120, every second
//
// Attempts of key-use are the requests with a valid API key. They are unlimited unless Rates sets a limit: Identifier
// limits the requests with one key.
//
// Attempts of email-token count for the address only if the token could be guessed ([Params].Guessable). A refused
// attempt is not counted. A correct attempt is removed from the counts; a correct attempt of in-a-row resets its
// counts.
//
// An IPv6 client is counted by its /64 network, and by the /56 and /48 networks around it, which are allowed twice and
// three times as much. All of these together with one IPv4 client cannot use up the limit of an address, so that an
// attacker in one household cannot lock out the owner.
//
// Attempts in known browsers (core.Config.Limits.KnownBrowsers) have separate buckets: one for the browser and the
// name; one for the name in all its known browsers, of the size in the first column; and one for the client, of the
// size in the third column. So attackers elsewhere cannot lock the owner out of a known browser, and a user cannot get
// more attempts by making more browsers known.
//
// A client is identified only if PeerIsVisitor is true. Otherwise it is unidentified, for example if it sends a proxy's
// header while core.Config.TrustedProxies is not set. All unidentified clients together have a separate bucket for each
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

// New returns a Limiter with empty counts. now is its clock; nil means the system clock. rates override the default
// rates; zero fields keep the default. The Limiter keeps the map, so it must not be changed afterwards.
func New(now func() time.Time, rates map[Attempt]Rates) *Limiter {
	if now == nil {
		now = time.Now //nolint:forbidigo // the default clock
	}
	return &Limiter{now: now, seed: maphash.MakeSeed(), rates: rates, pools: map[poolKey]*bucketPool{}}
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
const maxBuckets = 1 + 2*len(networkBits)

// buckets returns the buckets that an attempt is counted in.
func (l *Limiter) buckets(p Params) (all [maxBuckets]counted, n int) {
	rates := l.rates[p.Attempt].WithDefaults(p.Attempt)
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
	case named && !p.PeerIsVisitor && p.Attempt != AttemptKeyUse: // a valid key is the same key everywhere
		add(rates.Identifier, "unidentified", "", p.Identifier)
	case named:
		add(rates.Identifier, "identifier", "", p.Identifier)
	}
	if !p.PeerIsVisitor {
		add(rates.Network.times(unidentifiedClients), group+"unidentified-all", "", "")
		return all, n
	}
	if !p.Peer.IsValid() { // core resets only the buckets of the name
		return all, n
	}
	for i, network := range Networks(p.Peer) {
		peer := network.String()
		add(rates.Network.wide(i, 0), group+"peer", peer, "")
		if named && !known {
			add(rates.Visitor.wide(i, rates.Identifier.Burst), "both", peer, p.Identifier)
		}
	}
	return all, n
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

// Limit counts an attempt and returns 0, or returns the time until the attempt is allowed. The error is always nil.
func (l *Limiter) Limit(_ context.Context, p Params) (wait time.Duration, err error) {
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

// Forgive removes a correct attempt from the counts.
func (l *Limiter) Forgive(_ context.Context, p Params) {
	l.giveBack(p, p.Attempt == AttemptInARow)
}

// giveBack removes an attempt from its buckets. If whole is true, it removes all attempts.
func (l *Limiter) giveBack(p Params, whole bool) {
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
