package core

import (
	"context"
	"hash/maphash"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Limiter is what limits attempts where [Callbacks] have no Limit: a token bucket per address or name, per visitor, and
// per the two together, in the memory of this process. It holds a bounded number of them whatever visitors type, starts
// no goroutine, and is safe for concurrent use. Make it with [NewLimiter]; where several processes serve one site, each
// has its own count, unless Config.Limits.Shared is set.
//
// What may be done at once, and how soon again afterwards; Config.Limits.Rates changes it:
//
//	                   one address or name    by one visitor       one visitor, in all    in a known browser
//	credentials        50, every 5 minutes    10, every 5 minutes   60, every 10 seconds   10, every 5 minutes
//	in-a-row           100, every 24 hours  50, every 24 hours   -                      100, every 24 hours
//	code               20, every 3 minutes    5, every 3 minutes    20, every 6 seconds    5, every 3 minutes
//	email              10, every 15 minutes   5, every 15 minutes   60, every 20 seconds   -
//	email-token        50, every 30 minutes   5, every 30 minutes   30, every minute       5, every 30 minutes
//	mail               10, every 2 minutes    3, every 2 minutes    10, every minute       -
//	sign-up            -                      -                     5, every 5 minutes     -
//	webauthn-options   -                      -                     120, every second      -
//
// Attempts of email-token count against the address only where the token could be guessed ([LimitParams].Guessable). A
// refused attempt is not counted, and one that was right is given back, of in-a-row with all that came before it. One
// visitor alone does not use up what an address may do, so that a stranger at one place cannot lock its owner out; nor
// can many at many places where the owner's browser is known (Config.Limits.KnownBrowsers): what it does counts against
// itself alone. Visitors are told apart only where PeerIsVisitor says so: elsewhere, and for one who sends the header
// of a proxy where [Config].TrustedProxies is not set, the first column alone counts.
type Limiter struct {
	now   func() time.Time
	seed  maphash.Seed
	rates map[Attempt]Rates

	mu     sync.Mutex
	levels map[uint64]level
}

// NewLimiter returns a Limiter that has counted nothing. now is its clock, for tests; nil: that of the system.
func NewLimiter(now func() time.Time) *Limiter { return newLimiter(now, nil) }

func newLimiter(now func() time.Time, changed map[Attempt]Rates) *Limiter {
	if now == nil {
		now = time.Now //nolint:forbidigo // the default of a clock that can be set
	}
	return &Limiter{now: now, seed: maphash.MakeSeed(), rates: changed, levels: map[uint64]level{}}
}

// level is how empty a bucket is.
type level struct {
	full  int64 // when it is full again, in Unix nanoseconds
	takes int64 // how long an empty one takes, in nanoseconds
}

// maxLevels is how many buckets are held: 4 MB of them.
const maxLevels = 1 << 16

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

// buckets lists what an attempt is counted by.
func (l *Limiter) buckets(p LimitParams) (all [3]counted, n int) {
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
	if named && p.Browser != "" && rates.Browser.Every > 0 {
		add(rates.Browser, "browser", p.Browser, p.Identifier)
		return all, n
	}
	if named {
		add(rates.Identifier, "identifier", "", p.Identifier)
	}
	if p.PeerIsVisitor && p.Peer.IsValid() {
		peer := p.Peer.String()
		add(rates.Network, "peer", peer, "")
		if named {
			add(rates.Visitor, "both", peer, p.Identifier)
		}
	}
	return all, n
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

// Limit has the type of [Callbacks].Limit: it counts the attempt and lets it go on, or says how long to wait.
func (l *Limiter) Limit(_ context.Context, p LimitParams) (wait time.Duration, err error) {
	all, n := l.buckets(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for i := range all[:n] {
		b := &all[i]
		wait = max(wait, b.patience(b.debtOf(l.levels[b.key].full, now)))
	}
	if wait > 0 {
		return wait, nil
	}
	for i := range all[:n] {
		l.change(&all[i], now, all[i].Every)
	}
	return 0, nil
}

// Forgive has the type of [Callbacks].Forgive: an attempt that was right counts no longer.
func (l *Limiter) Forgive(_ context.Context, p LimitParams) {
	l.giveBack(p, p.Attempt == AttemptInARow)
}

// giveBack takes an attempt out of its buckets again, or all attempts.
func (l *Limiter) giveBack(p LimitParams, whole bool) {
	all, n := l.buckets(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for i := range all[:n] {
		l.change(&all[i], now, -all[i].share(whole))
	}
}

// share is the part of a bucket that one attempt takes, or the whole of it.
func (b *counted) share(whole bool) time.Duration {
	if whole {
		return b.takes()
	}
	return b.Every
}

// change adds to the debt of a bucket.
func (l *Limiter) change(b *counted, now time.Time, by time.Duration) {
	debt := max(0, b.debtOf(l.levels[b.key].full, now)+by)
	if debt == 0 {
		delete(l.levels, b.key)
		return
	}
	l.set(b, now.Add(debt).UnixNano(), now)
}

// set notes when a bucket is full again.
func (l *Limiter) set(b *counted, full int64, now time.Time) {
	if _, known := l.levels[b.key]; !known && len(l.levels) >= maxLevels {
		l.forget(now)
	}
	l.levels[b.key] = level{full: full, takes: int64(b.takes())}
}

// forget makes room: the buckets that are nearest to full go, a quarter of all, and those that make somebody wait go
// last. The map is made anew, as one that entries come and go in would grow.
func (l *Limiter) forget(now time.Time) {
	at := now.UnixNano()
	empty := make([]float64, 0, len(l.levels))
	for _, v := range l.levels {
		empty = append(empty, v.emptiness(at))
	}
	slices.Sort(empty)
	gone := len(empty) / 4
	most := empty[gone]
	same := gone - sort.SearchFloat64s(empty, most) // of those as empty as the first that stays, so many go
	kept := make(map[uint64]level, maxLevels)
	for key, v := range l.levels {
		switch empty := v.emptiness(at); {
		case empty < most:
		case empty == most && same > 0:
			same--
		default:
			kept[key] = v
		}
	}
	l.levels = kept
}

// emptiness is 0 for a full bucket and 1 for one that makes its visitor wait as long as can be.
func (v level) emptiness(at int64) float64 { return float64(v.full-at) / float64(v.takes) }
