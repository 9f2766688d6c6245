package limit_test

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/limit"
)

// clock is a clock that only Advance moves.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{now: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time          { return c.now }
func (c *clock) Advance(d time.Duration) { c.now = c.now.Add(d) }

// attempts makes n attempts and returns the number that was allowed, and the last wait.
func attempts(l *limit.Limiter, n int, p limit.Params) (allowed int, wait time.Duration) {
	for range n {
		var err error
		if wait, err = l.Limit(context.Background(), p); err != nil {
			panic(err)
		}
		if wait == 0 {
			allowed++
		}
	}
	return allowed, wait
}

func from(attempt limit.Attempt, identifier, peer string) limit.Params {
	p := limit.Params{Attempt: attempt, Identifier: identifier, Guessable: attempt == limit.AttemptEmailToken}
	if peer != "" {
		p.Peer, p.PeerIsVisitor = netip.MustParsePrefix(peer+"/32"), true
	}
	return p
}

// TestLimiterAllowances checks the number of allowed attempts: guesses for one name by one client and by many, one
// guess for many names, and emails to one address.
func TestLimiterAllowances(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		attempt    limit.Attempt
		identifier func(i int) string
		peer       func(i int) string
		allowed    int
	}{
		{"passwords of one name, one place", limit.AttemptCredentials, one("ada"), one("192.0.2.1"), 10},
		{"passwords of one name, many places", limit.AttemptCredentials, one("ada"), many("192.0.2.%d"), 50},
		{"passwords of one name, unidentified clients", limit.AttemptCredentials, one("ada"), one(""), 50},
		{"a password for many names, one place", limit.AttemptCredentials, many("name %d"), one("192.0.2.1"), 60},
		{"a password for many names, unidentified clients", limit.AttemptCredentials, many("name %d"), one(""), 250},
		{"emails to one address, one client", limit.AttemptEmail, one("ada@example.com"), one("192.0.2.1"), 5},
		{"emails to one address, many clients", limit.AttemptEmail, one("ada@example.com"), many("192.0.2.%d"), 10},
		{"emails to many addresses, one client", limit.AttemptEmail, many("%d@example.com"), one("192.0.2.1"), 60},
		{"codes of one address, one place", limit.AttemptEmailToken, one("ada@example.com"), one("192.0.2.1"), 5},
		{"codes of one address, many places", limit.AttemptEmailToken, one("ada@example.com"), many("192.0.2.%d"), 50},
		{"codes of one address, unidentified clients", limit.AttemptEmailToken, one("ada@example.com"), one(""), 50},
		{"codes of no address", limit.AttemptEmailToken, one(""), one(""), 50},
		{"codes of many addresses, one place", limit.AttemptEmailToken, many("%d@example.com"), one("192.0.2.1"), 30},
		{"second factors of one name, one place", limit.AttemptCode, one("ada"), one("192.0.2.1"), 5},
		{"second factors of one name, many places", limit.AttemptCode, one("ada"), many("192.0.2.%d"), 10},
		{"second factors of many names, one place", limit.AttemptCode, many("name %d"), one("192.0.2.1"), 20},
		{"mails to one address, one place", limit.AttemptMail, one("ada@example.com"), one("192.0.2.1"), 3},
		{"mails to one address, many places", limit.AttemptMail, one("ada@example.com"), many("192.0.2.%d"), 10},
		{"mails to many addresses, one place", limit.AttemptMail, many("%d@example.com"), one("192.0.2.1"), 10},
		{"sign-ups, one place", limit.AttemptSignUp, many("%d@example.com"), one("192.0.2.1"), 5},
		{"sign-ups, many places", limit.AttemptSignUp, one("ada@example.com"), many("192.0.2.%d"), 250},
		{"challenges, one place", limit.AttemptWebAuthn, many("%d@example.com"), one("192.0.2.1"), 120},
		{"challenges, many places", limit.AttemptWebAuthn, one("ada@example.com"), many("192.0.2.%d"), 250},
	} {
		t.Run(row.name, func(t *testing.T) {
			l, allowed := limit.New(newClock().Now, nil), 0
			for i := range 250 {
				n, _ := attempts(l, 1, from(row.attempt, row.identifier(i), row.peer(i)))
				allowed += n
			}
			if allowed != row.allowed {
				t.Errorf("%d of 250 were allowed, want %d", allowed, row.allowed)
			}
		})
	}
}

func one(s string) func(int) string { return func(int) string { return s } }
func many(format string) func(int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

// TestLinksAreNotCountedAgainstTheirAddress checks that an attacker who cannot guess a token cannot lock out the owner
// of the address by trying.
func TestLinksAreNotCountedAgainstTheirAddress(t *testing.T) {
	t.Parallel()
	l := limit.New(newClock().Now, nil)
	for i := range 250 {
		p := from(limit.AttemptEmailToken, "ada@example.com", fmt.Sprintf("192.0.2.%d", i))
		p.Guessable = false
		if n, wait := attempts(l, 1, p); n != 1 {
			t.Fatalf("attempt %d must wait %v", i, wait)
		}
	}
}

// TestLimiterGivesBack checks that the returned wait is exact, that refused attempts are not counted, and that a bucket
// never exceeds its size.
func TestLimiterGivesBack(t *testing.T) {
	t.Parallel()
	clock := newClock()
	l := limit.New(clock.Now, nil)
	p := from(limit.AttemptEmail, "ada@example.com", "")
	if n, wait := attempts(l, 40, p); n != 10 || wait != 15*time.Minute {
		t.Fatalf("%d emails immediately, then %v", n, wait)
	}
	clock.Advance(15*time.Minute - time.Second)
	if n, wait := attempts(l, 1, p); n != 0 || wait != time.Second {
		t.Errorf("a second early: %d, %v", n, wait)
	}
	clock.Advance(time.Second)
	if n, _ := attempts(l, 5, p); n != 1 {
		t.Errorf("%d after the wait", n)
	}
	clock.Advance(30 * 24 * time.Hour)
	if n, _ := attempts(l, 40, p); n != 10 {
		t.Errorf("%d after a month", n)
	}
	clock.Advance(-24 * time.Hour)
	if _, wait := attempts(l, 1, p); wait > 15*time.Minute {
		t.Errorf("a clock that was set back locks out for %v", wait)
	}
}

// TestLimiterLocksNoOwnerOut makes as many attempts as possible in one network for a week. The owner of the address is
// still allowed.
func TestLimiterLocksNoOwnerOut(t *testing.T) {
	t.Parallel()
	for attempt, days := range map[limit.Attempt]int{
		limit.AttemptCredentials: 7, limit.AttemptEmail: 1, limit.AttemptEmailToken: 1, limit.AttemptCode: 1,
		limit.AttemptMail: 1,
	} {
		t.Run(string(attempt), func(t *testing.T) {
			clock := newClock()
			l := limit.New(clock.Now, nil)
			for range days * 24 * 12 {
				attempts(l, 20, from(attempt, "ada@example.com", "192.0.2.66"))
				clock.Advance(5 * time.Minute)
			}
			if n, wait := attempts(l, 1, from(attempt, "ada@example.com", "198.51.100.7")); n != 1 {
				t.Errorf("the owner must wait %v", wait)
			}
		})
	}
}

// TestLimiterForgives checks that correct attempts do not add up, neither for one client nor for several behind one
// address, and do not remove wrong attempts.
func TestLimiterForgives(t *testing.T) {
	t.Parallel()
	l := limit.New(newClock().Now, nil)
	for i := range 500 {
		p := from(limit.AttemptCredentials, fmt.Sprintf("name %d", i%3), "192.0.2.1")
		if n, wait := attempts(l, 1, p); n != 1 {
			t.Fatalf("sign-in %d must wait %v", i, wait)
		}
		l.Forgive(t.Context(), p)
	}
	wrong, right := from(limit.AttemptCredentials, "ada", "192.0.2.1"), from(limit.AttemptCredentials, "eve", "192.0.2.1")
	allowed := 0
	for range 100 {
		n, _ := attempts(l, 1, wrong)
		allowed += n
		if n, _ := attempts(l, 1, right); n == 1 {
			l.Forgive(t.Context(), right)
		}
	}
	if allowed != 10 {
		t.Errorf("%d guesses among one's own sign-ins", allowed)
	}
	l, allowed = limit.New(newClock().Now, nil), 0
	for i := range 200 {
		n, _ := attempts(l, 1, from(limit.AttemptCredentials, fmt.Sprint("name ", i), "192.0.2.1"))
		allowed += n
		if n, _ := attempts(l, 1, right); n == 1 {
			l.Forgive(t.Context(), right)
		}
	}
	if allowed > 60 {
		t.Errorf("a password for %d names among one's own sign-ins", allowed)
	}
}

// TestLimiterIsBounded floods a Limiter with names from many networks. Its memory stays small, and a name that is
// guessed continuously stays counted.
func TestLimiterIsBounded(t *testing.T) { // not parallel: it reads the memory statistics of the process
	l := limit.New(newClock().Now, nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	guessed := 0
	long := strings.Repeat("x", 10_000)
	for i := range 60_000 {
		p := from(limit.AttemptCredentials, fmt.Sprint(i, long[:i%500]), fmt.Sprintf("198.%d.%d.%d", i>>16, i>>8&255, i&255))
		attempts(l, 1, p)
		if i%1000 == 0 {
			n, _ := attempts(l, 1, from(limit.AttemptCredentials, "ada", fmt.Sprintf("203.0.113.%d", i/1000)))
			guessed += n
		}
	}
	attempts(l, 1, from(limit.AttemptCredentials, long, ""))
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("%d bytes kept", grown)
	}
	if guessed != 50 {
		t.Errorf("%d guesses on one name in the flood", guessed)
	}
	runtime.KeepAlive(l)
}

// TestLimiterRemembersInFloods checks that no flood evicts a bucket that makes attempts wait, or an in-a-row bucket,
// and that memory is bounded.
func TestLimiterRemembersInFloods(t *testing.T) { // not parallel: it reads the memory statistics of the process
	flood := func(attempt limit.Attempt, each int) func(l *limit.Limiter) {
		return func(l *limit.Limiter) {
			for i := range 100_000 {
				peer := fmt.Sprintf("%d.%d.%d.%d", 11+i>>24, i>>16&255, i>>8&255, i&255)
				attempts(l, each, from(attempt, fmt.Sprint("name ", i), peer))
			}
		}
	}
	for name, row := range map[string]struct {
		guesses limit.Attempt
		allowed int
		flood   func(l *limit.Limiter)
	}{
		"emails":                    {limit.AttemptCredentials, 50, flood(limit.AttemptMail, 1)},
		"passwords":                 {limit.AttemptCredentials, 50, flood(limit.AttemptCredentials, 1)},
		"names that wait":           {limit.AttemptCode, 10, flood(limit.AttemptCode, 5)},
		"passwords that were wrong": {limit.AttemptInARow, 100, flood(limit.AttemptInARow, 1)},
		"challenges":                {limit.AttemptInARow, 100, flood(limit.AttemptWebAuthn, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			l := limit.New(newClock().Now, nil)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			guess := func() (allowed int) {
				for i := range 20 {
					n, _ := attempts(l, 10, from(row.guesses, "ada", fmt.Sprintf("203.0.113.%d", i)))
					allowed += n
				}
				return allowed
			}
			if n := guess(); n != row.allowed {
				t.Fatalf("%d guesses before the flood", n)
			}
			row.flood(l)
			if n := guess(); n != 0 {
				t.Errorf("%d guesses after the flood", n)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
				t.Errorf("%d bytes kept", grown)
			}
			runtime.KeepAlive(l)
		})
	}
}

// TestOwnerAndTheMany makes as many attempts as possible for hours, with every kind of address. A client elsewhere can
// still make one attempt, and the owner in a known browser is not affected.
func TestOwnerAndTheMany(t *testing.T) {
	t.Parallel()
	v6 := func(format string, of int) func(i int, p *limit.Params) {
		return func(i int, p *limit.Params) {
			p.Peer, p.PeerIsVisitor = netip.MustParsePrefix(fmt.Sprintf(format, i%of)+"/64"), true
		}
	}
	nobody := func(_ int, p *limit.Params) {}
	proxy := func(i int, p *limit.Params) { p.Peer = netip.MustParsePrefix(fmt.Sprintf("198.18.0.%d/32", i%250)) }
	v4 := func(_ int, p *limit.Params) {
		p.Peer, p.PeerIsVisitor = netip.MustParsePrefix("192.0.2.66/32"), true
	}
	kinds := map[string][]func(i int, p *limit.Params){
		"one /64": {v6("2001:db8:%x::", 1)}, "the /64 of one /56": {v6("2001:db8:0:%x::", 256)},
		"the /64 of one /48": {v6("2001:db8:0:%x::", 65536)}, "no peer": {nobody}, "a header of a proxy": {proxy},
		"IPv4, a /48 and a header": {v4, v6("2001:db8:0:%x::", 65536), proxy},
	}
	for _, attempt := range []limit.Attempt{
		limit.AttemptCredentials, limit.AttemptInARow, limit.AttemptEmail, limit.AttemptEmailToken, limit.AttemptCode,
		limit.AttemptMail, limit.AttemptWebAuthn, limit.AttemptSignUp,
	} {
		for name, kinds := range kinds {
			t.Run(string(attempt)+", "+name, func(t *testing.T) {
				clock := newClock()
				l := limit.New(clock.Now, nil)
				allowed := 0
				for i := range 3000 {
					p := from(attempt, "ada", "")
					if i%3 == 2 {
						p.Identifier = fmt.Sprint("name ", i)
					}
					kinds[i%len(kinds)](i, &p)
					n, _ := attempts(l, 1, p)
					allowed += n
				}
				if allowed > 2000 {
					t.Errorf("%d attempts of the attacker", allowed)
				}
				elsewhere := from(attempt, "ada", "198.51.100.7")
				if n, wait := attempts(l, 1, elsewhere); n != 1 {
					t.Errorf("a client elsewhere must wait %v", wait)
				}
				known := from(attempt, "ada", "")
				known.Browser = "b"
				kinds[0](0, &known)
				if n, wait := attempts(l, 3, known); n != 3 && attempt != limit.AttemptSignUp {
					t.Errorf("the owner's browser waits %v", wait)
				}
			})
		}
	}
}

// inKnownBrowser returns an attempt in a known browser, from an IPv4 address or, if peer is empty, from an unidentified
// client.
func inKnownBrowser(attempt limit.Attempt, name, peer, browser string) limit.Params {
	p := from(attempt, name, peer)
	p.Browser = browser
	return p
}

// TestKnownBrowsersShare checks that users who make many browsers known get no more attempts, and do not use up the
// limits of unknown browsers.
func TestKnownBrowsersShare(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		attempt limit.Attempt
		of      func(i int) limit.Params
		most    int
	}{
		"one name, many browsers and clients": {limit.AttemptCredentials, func(i int) limit.Params {
			return inKnownBrowser(limit.AttemptCredentials, "ada", fmt.Sprintf("192.0.2.%d", i%200), fmt.Sprint(i))
		}, 50},
		"in a row": {limit.AttemptInARow, func(i int) limit.Params {
			return inKnownBrowser(limit.AttemptInARow, "ada", fmt.Sprintf("192.0.2.%d", i%200), fmt.Sprint(i))
		}, 100},
		"many names, one client": {limit.AttemptCredentials, func(i int) limit.Params {
			return inKnownBrowser(limit.AttemptCredentials, fmt.Sprint("name ", i), "192.0.2.1", fmt.Sprint(i))
		}, 60},
		"many names, unidentified": {limit.AttemptCredentials, func(i int) limit.Params {
			return inKnownBrowser(limit.AttemptCredentials, fmt.Sprint("name ", i), "", fmt.Sprint(i))
		}, 600},
		"passkey challenges of one client": {limit.AttemptWebAuthn, func(i int) limit.Params {
			return inKnownBrowser(limit.AttemptWebAuthn, "", "192.0.2.1", fmt.Sprint(i))
		}, 120},
	} {
		t.Run(name, func(t *testing.T) {
			l, allowed := limit.New(newClock().Now, nil), 0
			for i := range 2000 {
				n, _ := attempts(l, 1, row.of(i))
				allowed += n
			}
			if allowed != row.most {
				t.Errorf("%d attempts, want %d", allowed, row.most)
			}
			unknown := row.of(0)
			unknown.Browser = ""
			if n, wait := attempts(l, 1, unknown); n != 1 {
				t.Errorf("an unknown browser waits %v", wait)
			}
		})
	}
}

// TestOneNetworkFillsNoPool simulates an attacker with a /48 who makes one wrong attempt for as many names as the
// network can in a day. The limit of a name that was not attacked is unchanged.
func TestOneNetworkFillsNoPool(t *testing.T) {
	t.Parallel()
	l := limit.New(newClock().Now, nil)
	for i := range 26_000 {
		p := from(limit.AttemptInARow, fmt.Sprint("name ", i), "")
		p.Peer, p.PeerIsVisitor = netip.MustParsePrefix(fmt.Sprintf("2001:db8:0:%x::/64", i)), true
		if wait, err := l.Limit(context.Background(), p); wait > 0 || err != nil {
			t.Fatal(i, wait, err)
		}
	}
	for i := range 50 {
		honest := from(limit.AttemptInARow, fmt.Sprint("honest ", i), "198.51.100.7")
		if n, wait := attempts(l, 50, honest); n != 50 {
			t.Fatalf("%s: %d attempts, then a wait of %v", honest.Identifier, n, wait)
		}
	}
}

// TestRowSurvivesAFlood checks that the wrong attempt of a name is not evicted by a flood of names with more attempts.
func TestRowSurvivesAFlood(t *testing.T) {
	t.Parallel()
	l := limit.New(newClock().Now, nil)
	attempts(l, 1, from(limit.AttemptInARow, "ada", "203.0.113.99"))
	for i := range 100_000 {
		peer := fmt.Sprintf("%d.%d.%d.%d", 11+i>>24, i>>16&255, i>>8&255, i&255)
		attempts(l, 2, from(limit.AttemptInARow, fmt.Sprint("name ", i), peer))
	}
	allowed := 0
	for i := range 20 {
		n, _ := attempts(l, 10, from(limit.AttemptInARow, "ada", fmt.Sprintf("203.0.113.%d", i)))
		allowed += n
	}
	if allowed != 99 {
		t.Errorf("%d attempts after the flood", allowed)
	}
}

// TestThrottledAreForgottenLast checks that a hundred thousand networks, which cause buckets to be evicted repeatedly,
// do not allow one more guess for a name, and that memory is bounded.
func TestThrottledAreForgottenLast(t *testing.T) { // not parallel: it reads the memory statistics of the process
	l := limit.New(newClock().Now, nil)
	ada := from(limit.AttemptCredentials, "ada", "")
	if n, _ := attempts(l, 60, ada); n != 50 {
		t.Fatalf("%d guesses", n)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 100_000 {
		p := limit.Params{Attempt: limit.AttemptCredentials, Identifier: "name", PeerIsVisitor: true}
		p.Identifier = fmt.Sprint(i)
		p.Peer = netip.PrefixFrom(netip.AddrFrom4([4]byte{192, byte(i >> 16), byte(i >> 8), byte(i)}), 32)
		if i%10_000 == 0 {
			if n, _ := attempts(l, 1, ada); n != 0 {
				t.Fatalf("network %d allowed a further guess", i)
			}
		}
		attempts(l, 1, p)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	if grown > 6<<20 {
		t.Errorf("%d bytes kept", grown)
	}
	if n, _ := attempts(l, 1, ada); n != 0 {
		t.Error("a throttled name was forgotten")
	}
	t.Logf("%d KB kept", grown>>10)
	runtime.KeepAlive(l)
}

// TestUnidentifiedPeers checks that rate limits do not count a proxy that many clients share.
func TestUnidentifiedPeers(t *testing.T) {
	t.Parallel()
	l := limit.New(newClock().Now, nil)
	for i := range 200 {
		p := limit.Params{
			Attempt: limit.AttemptCredentials, Identifier: string(rune('a'+i%26)) + strings.Repeat("x", i),
			Peer: netip.MustParsePrefix("10.0.0.1/32"),
		}
		if wait, err := l.Limit(t.Context(), p); wait > 0 || err != nil {
			t.Fatalf("client %d waits %v because of others behind the same proxy: %v", i, wait, err)
		}
	}
}

// TestSpellingsOfAName checks that spellings that a table considers equal share a count. Some collations ignore accents
// and invisible characters, so that the number of spellings is unlimited.
func TestSpellingsOfAName(t *testing.T) {
	t.Parallel()
	for name, spell := range map[string]func(i int) string{
		"accents":     func(i int) string { return "a\u0301" + strings.Repeat("\u0300", i) + "da" },
		"composed":    func(i int) string { return []string{"áda", "àda", "âda", "ada", "ădä"}[i%5] },
		"compatible":  func(i int) string { return []string{"ａda", "𝐚da", "ⓐda", "ada"}[i%4] },
		"upper case":  func(i int) string { return []string{"ADA", "aDa", "ada", "ÁDA"}[i%4] },
		"soft hyphen": func(i int) string { return "ad" + strings.Repeat("\u00ad", i) + "a" },
		"joiners":     func(i int) string { return "ad" + strings.Repeat("\u200d\u2060\ufe0f", i) + "a" },
		"controls":    func(i int) string { return "ad" + strings.Repeat("\x01", i) + "a" },
		"blanks":      func(i int) string { return "ada" + strings.Repeat(" ", i) },
	} {
		l, allowed := limit.New(newClock().Now, nil), 0
		for i := range 120 {
			n, _ := attempts(l, 1, from(limit.AttemptCredentials, spell(i), ""))
			allowed += n
		}
		if allowed != 50 {
			t.Errorf("%s: %d of 120 were allowed", name, allowed)
		}
	}
	l := limit.New(newClock().Now, nil)
	for _, other := range []string{"ada", "adb", "ada lovelace", "ада", "あだ", "\u00ad"} {
		if n, _ := attempts(l, 50, from(limit.AttemptCredentials, other, "")); n != 50 {
			t.Errorf("%q has a separate count: %d were allowed", other, n)
		}
	}
}

// BenchmarkLimits measures an attempt that is allowed and forgiven, and one in a full memory.
func BenchmarkLimits(b *testing.B) {
	ada := from(limit.AttemptCredentials, "ada", "192.0.2.1")
	b.Run("memory", func(b *testing.B) {
		l := limit.New(newClock().Now, nil)
		b.ReportAllocs()
		for b.Loop() {
			_, _ = l.Limit(b.Context(), ada)
			l.Forgive(b.Context(), ada)
		}
	})
	b.Run("a full memory", func(b *testing.B) {
		l := limit.New(newClock().Now, nil)
		i := 0
		for b.Loop() {
			i++
			p := limit.Params{Attempt: limit.AttemptCredentials, Identifier: fmt.Sprint(i)}
			_, _ = l.Limit(b.Context(), p)
		}
	})
}

func BenchmarkLimiter(b *testing.B) {
	l := limit.New(newClock().Now, nil)
	p := from(limit.AttemptCredentials, "ada@example.com", "192.0.2.1")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = l.Limit(b.Context(), p)
	}
}
