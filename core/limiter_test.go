package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// attempts makes n attempts and returns the number that was allowed, and the last wait.
func attempts(l *core.Limiter, n int, p core.LimitParams) (allowed int, wait time.Duration) {
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

func from(attempt core.Attempt, identifier, peer string) core.LimitParams {
	p := core.LimitParams{Attempt: attempt, Identifier: identifier, Guessable: attempt == core.AttemptEmailToken}
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
		attempt    core.Attempt
		identifier func(i int) string
		peer       func(i int) string
		allowed    int
	}{
		{"passwords of one name, one place", core.AttemptCredentials, one("ada"), one("192.0.2.1"), 10},
		{"passwords of one name, many places", core.AttemptCredentials, one("ada"), many("192.0.2.%d"), 50},
		{"passwords of one name, unidentified clients", core.AttemptCredentials, one("ada"), one(""), 50},
		{"a password for many names, one place", core.AttemptCredentials, many("name %d"), one("192.0.2.1"), 60},
		{"a password for many names, unidentified clients", core.AttemptCredentials, many("name %d"), one(""), 250},
		{"emails to one address, one client", core.AttemptEmail, one("ada@example.com"), one("192.0.2.1"), 5},
		{"emails to one address, many clients", core.AttemptEmail, one("ada@example.com"), many("192.0.2.%d"), 10},
		{"emails to many addresses, one client", core.AttemptEmail, many("%d@example.com"), one("192.0.2.1"), 60},
		{"codes of one address, one place", core.AttemptEmailToken, one("ada@example.com"), one("192.0.2.1"), 5},
		{"codes of one address, many places", core.AttemptEmailToken, one("ada@example.com"), many("192.0.2.%d"), 50},
		{"codes of one address, unidentified clients", core.AttemptEmailToken, one("ada@example.com"), one(""), 50},
		{"codes of no address", core.AttemptEmailToken, one(""), one(""), 50},
		{"codes of many addresses, one place", core.AttemptEmailToken, many("%d@example.com"), one("192.0.2.1"), 30},
		{"second factors of one name, one place", core.AttemptCode, one("ada"), one("192.0.2.1"), 5},
		{"second factors of one name, many places", core.AttemptCode, one("ada"), many("192.0.2.%d"), 20},
		{"second factors of many names, one place", core.AttemptCode, many("name %d"), one("192.0.2.1"), 20},
		{"mails to one address, one place", core.AttemptMail, one("ada@example.com"), one("192.0.2.1"), 3},
		{"mails to one address, many places", core.AttemptMail, one("ada@example.com"), many("192.0.2.%d"), 10},
		{"mails to many addresses, one place", core.AttemptMail, many("%d@example.com"), one("192.0.2.1"), 10},
		{"sign-ups, one place", core.AttemptSignUp, many("%d@example.com"), one("192.0.2.1"), 5},
		{"sign-ups, many places", core.AttemptSignUp, one("ada@example.com"), many("192.0.2.%d"), 250},
		{"challenges, one place", core.AttemptWebAuthn, many("%d@example.com"), one("192.0.2.1"), 120},
		{"challenges, many places", core.AttemptWebAuthn, one("ada@example.com"), many("192.0.2.%d"), 250},
	} {
		t.Run(row.name, func(t *testing.T) {
			l, allowed := core.NewLimiter(newClock().Now), 0
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
	l := core.NewLimiter(newClock().Now)
	for i := range 250 {
		p := from(core.AttemptEmailToken, "ada@example.com", fmt.Sprintf("192.0.2.%d", i))
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
	l := core.NewLimiter(clock.Now)
	p := from(core.AttemptEmail, "ada@example.com", "")
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

// TestLimiterLocksNobodyOut makes as many attempts as possible in one network for a week. The owner of the address is
// still allowed.
func TestLimiterLocksNobodyOut(t *testing.T) {
	t.Parallel()
	for attempt, days := range map[core.Attempt]int{
		core.AttemptCredentials: 7, core.AttemptEmail: 1, core.AttemptEmailToken: 1, core.AttemptCode: 1, core.AttemptMail: 1,
	} {
		t.Run(string(attempt), func(t *testing.T) {
			clock := newClock()
			l := core.NewLimiter(clock.Now)
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
	l := core.NewLimiter(newClock().Now)
	for i := range 500 {
		p := from(core.AttemptCredentials, fmt.Sprintf("name %d", i%3), "192.0.2.1")
		if n, wait := attempts(l, 1, p); n != 1 {
			t.Fatalf("sign-in %d must wait %v", i, wait)
		}
		l.Forgive(t.Context(), p)
	}
	wrong, right := from(core.AttemptCredentials, "ada", "192.0.2.1"), from(core.AttemptCredentials, "eve", "192.0.2.1")
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
	l, allowed = core.NewLimiter(newClock().Now), 0
	for i := range 200 {
		n, _ := attempts(l, 1, from(core.AttemptCredentials, fmt.Sprint("name ", i), "192.0.2.1"))
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
	l := core.NewLimiter(newClock().Now)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	guessed := 0
	long := strings.Repeat("x", 10_000)
	for i := range 60_000 {
		p := from(core.AttemptCredentials, fmt.Sprint(i, long[:i%500]), fmt.Sprintf("198.%d.%d.%d", i>>16, i>>8&255, i&255))
		attempts(l, 1, p)
		if i%1000 == 0 {
			n, _ := attempts(l, 1, from(core.AttemptCredentials, "ada", fmt.Sprintf("203.0.113.%d", i/1000)))
			guessed += n
		}
	}
	attempts(l, 1, from(core.AttemptCredentials, long, ""))
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
	flood := func(attempt core.Attempt, each int) func(l *core.Limiter) {
		return func(l *core.Limiter) {
			for i := range 100_000 {
				peer := fmt.Sprintf("%d.%d.%d.%d", 11+i>>24, i>>16&255, i>>8&255, i&255)
				attempts(l, each, from(attempt, fmt.Sprint("name ", i), peer))
			}
		}
	}
	for name, row := range map[string]struct {
		guesses core.Attempt
		allowed int
		flood   func(l *core.Limiter)
	}{
		"emails":                    {core.AttemptCredentials, 50, flood(core.AttemptMail, 1)},
		"passwords":                 {core.AttemptCredentials, 50, flood(core.AttemptCredentials, 1)},
		"names that wait":           {core.AttemptCode, 20, flood(core.AttemptCode, 5)},
		"passwords that were wrong": {core.AttemptInARow, 100, flood(core.AttemptInARow, 1)},
		"challenges":                {core.AttemptInARow, 100, flood(core.AttemptWebAuthn, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			l := core.NewLimiter(newClock().Now)
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
	v6 := func(format string, of int) func(i int, p *core.LimitParams) {
		return func(i int, p *core.LimitParams) {
			p.Peer, p.PeerIsVisitor = netip.MustParsePrefix(fmt.Sprintf(format, i%of)+"/64"), true
		}
	}
	nobody := func(_ int, p *core.LimitParams) {}
	proxy := func(i int, p *core.LimitParams) { p.Peer = netip.MustParsePrefix(fmt.Sprintf("198.18.0.%d/32", i%250)) }
	v4 := func(_ int, p *core.LimitParams) {
		p.Peer, p.PeerIsVisitor = netip.MustParsePrefix("192.0.2.66/32"), true
	}
	kinds := map[string][]func(i int, p *core.LimitParams){
		"one /64": {v6("2001:db8:%x::", 1)}, "the /64 of one /56": {v6("2001:db8:0:%x::", 256)},
		"the /64 of one /48": {v6("2001:db8:0:%x::", 65536)}, "no peer": {nobody}, "a header of a proxy": {proxy},
		"IPv4, a /48 and a header": {v4, v6("2001:db8:0:%x::", 65536), proxy},
	}
	for _, attempt := range []core.Attempt{
		core.AttemptCredentials, core.AttemptInARow, core.AttemptEmail, core.AttemptEmailToken, core.AttemptCode,
		core.AttemptMail, core.AttemptWebAuthn, core.AttemptSignUp,
	} {
		for name, kinds := range kinds {
			t.Run(string(attempt)+", "+name, func(t *testing.T) {
				clock := newClock()
				l := core.NewLimiter(clock.Now)
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
				if n, wait := attempts(l, 3, known); n != 3 && attempt != core.AttemptSignUp {
					t.Errorf("the owner's browser waits %v", wait)
				}
			})
		}
	}
}

// coded returns an application with links that contain a six-digit code.
func coded(t *testing.T, change func(*core.Config)) (a *app, rows *tokenRows, code *string) {
	t.Helper()
	rows = &tokenRows{sessionRows: newSessionRows(), tokens: map[string]store.VerificationToken{}}
	code = new(string)
	config := core.Config{Store: rows, Providers: []core.Provider{&core.EmailProvider{
		ConfirmLink:   core.False,
		GenerateToken: func(context.Context) (string, error) { return "654321", nil },
		Send:          func(_ context.Context, m core.Email) error { *code = string(m.Token); return nil },
	}}}
	if change != nil {
		change(&config)
	}
	return newApp(t, config), rows, code
}

// TestCodesCannotBeGuessed guesses codes for an address, with the default configuration.
func TestCodesCannotBeGuessed(t *testing.T) {
	t.Parallel()
	a, store, code := coded(t, nil)
	owner := visit(t, a)
	owner.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
	guesser, tried := visit(t, a), 0
	for i := range 1000 {
		r := guesser.get(fmt.Sprintf("/auth/callback/email?token=%06d&email=ada%%40example.com", i))
		switch {
		case r.Status == 429 && r.Header.Get("Retry-After") != "":
		case errors.Is(r.Err, core.ErrVerification):
			tried++
		default:
			t.Fatalf("guess %d: status %d: %v", i, r.Status, r.Err)
		}
	}
	if tried != 5 || len(store.tokens) != 1 {
		t.Errorf("%d guesses, %d tokens left", tried, len(store.tokens))
	}
	elsewhere := owner.request("GET", "/auth/callback/email?token="+*code+"&email=ada%40example.com", "", "")
	elsewhere.RemoteAddr = "198.51.100.7:4711"
	if r := a.Handle(t.Context(), elsewhere); r.Err != nil || len(store.tokens) != 0 {
		t.Errorf("the owner's code: status %d: %v", r.Status, r.Err)
	}
}

// TestRedemptionIsLimited checks the calls of the Limit and Forgive callbacks for a mailed token.
func TestRedemptionIsLimited(t *testing.T) {
	t.Parallel()
	var asked, forgiven []core.LimitParams
	var wait time.Duration
	a, store, _ := coded(t, func(c *core.Config) {
		c.Callbacks.Limit = func(_ context.Context, p core.LimitParams) (time.Duration, error) {
			asked = append(asked, p)
			return wait, nil
		}
		c.Callbacks.Forgive = func(_ context.Context, p core.LimitParams) { forgiven = append(forgiven, p) }
	})
	b := visit(t, a)
	b.submit("/auth/signin/email", url.Values{"email": {"Ada@Example.com"}})
	wait = time.Minute
	if r := b.get("/auth/callback/email?token=654321&email=ada%40example.com"); r.Status != 429 || len(store.tokens) != 1 {
		t.Errorf("status %d, %d tokens left", r.Status, len(store.tokens))
	}
	wait = 0
	b.get("/auth/callback/email?token=999999&email=ada%40example.com")
	b.get("/auth/callback/email?token=" + strings.Repeat("9", 64) + "&email=ada%40example.com")
	b.get("/auth/callback/email?token=654321&email=ada%40example.com")
	want := []core.LimitParams{
		{Attempt: core.AttemptEmail}, {Attempt: core.AttemptEmailToken, Guessable: true},
		{Attempt: core.AttemptEmailToken, Guessable: true},
		{Attempt: core.AttemptEmailToken}, {Attempt: core.AttemptEmailToken, Guessable: true},
	}
	if len(asked) != len(want) {
		t.Fatalf("asked %d times", len(asked))
	}
	for i, p := range asked {
		if p.Attempt != want[i].Attempt || p.Guessable != want[i].Guessable || p.Identifier != "ada@example.com" ||
			p.Provider != "email" || p.Peer.String() != "192.0.2.1/32" || !p.PeerIsVisitor {
			t.Errorf("asked %d: %s of %q by %v", i, p.Attempt, p.Identifier, p.Peer)
		}
	}
	if len(forgiven) != 1 || forgiven[0].Attempt != core.AttemptEmailToken || forgiven[0].Identifier != "ada@example.com" {
		t.Errorf("forgave %d", len(forgiven))
	}
}

// TestNothingIsUnlimitedByDefault requests emails and guesses passwords without a configured limit.
func TestNothingIsUnlimitedByDefault(t *testing.T) {
	t.Parallel()
	config := func(sent *int) core.Config {
		return core.Config{
			Store:     &tokenRows{sessionRows: newSessionRows(), tokens: map[string]store.VerificationToken{}},
			Session:   core.SessionConfig{Strategy: core.StrategyJWT},
			Providers: []core.Provider{passwords(), letterbox(sent)},
		}
	}
	for name, row := range map[string]struct {
		unlimited     bool
		letters, keys int
	}{"default": {false, 5, 10}, "InsecureNoLimits": {true, 40, 40}} {
		t.Run(name, func(t *testing.T) {
			sent, tried := 0, 0
			c := config(&sent)
			c.InsecureNoLimits = row.unlimited
			b := visit(t, newApp(t, c))
			for range 40 {
				b.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
				r := b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"wrong"}})
				if errors.Is(r.Err, core.ErrCredentialsSignin) {
					tried++
				}
			}
			if sent != row.letters || tried != row.keys {
				t.Errorf("%d emails and %d passwords, want %d and %d", sent, tried, row.letters, row.keys)
			}
		})
	}
	t.Run("right passwords", func(t *testing.T) {
		sent := 0
		b := visit(t, newApp(t, config(&sent)))
		for range 100 {
			signIn(t, b)
		}
	})
}

// TestShortCodesNeedALimit checks that a generator of short codes is a configuration error if attempts are unlimited.
func TestShortCodesNeedALimit(t *testing.T) {
	t.Parallel()
	limit := func(context.Context, core.LimitParams) (time.Duration, error) { return 0, nil }
	for name, row := range map[string]struct {
		unlimited bool
		limit     func(context.Context, core.LimitParams) (time.Duration, error)
		fault     bool
	}{
		"default":                      {false, nil, false},
		"InsecureNoLimits":             {true, nil, true},
		"InsecureNoLimits and a Limit": {true, limit, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := core.New(core.Config{
				Secrets: []core.Secret{testSecret}, URL: "https://app.test", Getenv: func(string) string { return "" },
				Now:   func() time.Time { return start },
				Store: &tokenRows{sessionRows: newSessionRows()},
				Providers: []core.Provider{&core.EmailProvider{
					Send:          func(context.Context, core.Email) error { return nil },
					GenerateToken: func(context.Context) (string, error) { return "1", nil },
				}},
				Callbacks: core.Callbacks{Limit: row.limit}, InsecureNoLimits: row.unlimited,
			})
			if (err != nil) != row.fault || row.fault && !strings.Contains(err.Error(), "Callbacks.Limit") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestNamesOfForms checks which field of a password form is counted.
func TestNamesOfForms(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name       string
		fields     []core.Field
		form       url.Values
		want       string
		identifier string
	}{
		{"named", []core.Field{{Name: "code"}, {Name: "user"}}, url.Values{"code": {"1"}, "user": {"Ada"}}, "ada", "user"},
		{"first field", []core.Field{{Name: "user"}, {Name: "password", Type: "password"}},
			url.Values{"user": {" Ada "}, "email": {"x"}}, "ada", ""},
		{"behind a password", []core.Field{{Name: "pin", Type: "password"}, {Name: "mail", Type: "email"}},
			url.Values{"mail": {"ADA@example.com"}, "pin": {"1"}}, "ada@example.com", ""},
		{"two spellings", []core.Field{{Name: "mail"}},
			url.Values{"mail": {"ada@xn--bcher-kva.example"}}, "ada@bücher.example", ""},
		{"nothing declared", nil, url.Values{"username": {"ada"}, "password": {"x"}}, "ada", ""},
		{"only passwords", []core.Field{{Name: "pin", Type: "password"}}, url.Values{"pin": {"1234"}}, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			a := newApp(t, core.Config{Providers: []core.Provider{&core.CredentialsProvider{
				Fields: row.fields, Identifier: row.identifier,
				Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
			}}, Callbacks: core.Callbacks{Limit: func(_ context.Context, p core.LimitParams) (time.Duration, error) {
				got = append(got, p.Identifier)
				return 0, nil
			}}})
			visit(t, a).submit("/auth/callback/credentials", row.form)
			if len(got) != 1 || got[0] != row.want {
				t.Errorf("counted by %q, want %q", got, row.want)
			}
		})
	}
}

// TestVisitorsBehindProxies checks when a peer counts as a client. Behind a proxy that is not configured all clients
// look the same, and the attempts of one must not lock out the others.
func TestVisitorsBehindProxies(t *testing.T) {
	t.Parallel()
	named := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, row := range []struct {
		name    string
		proxies []netip.Prefix
		remote  string
		header  map[string]string
		want    bool
	}{
		{"a public address", nil, "192.0.2.1:1", nil, true},
		{"a public address, IPv6", nil, "[2001:db8::1]:1", nil, true},
		{"a proxy on this machine", nil, "127.0.0.1:1", nil, false},
		{"a proxy on this machine, IPv6", nil, "[::1]:1", nil, false},
		{"a proxy in a private network", nil, "10.1.2.3:1", nil, false},
		{"a proxy in a private network, IPv6", nil, "[fd00::1]:1", nil, false},
		{"a balancer in shared space", nil, "100.64.0.7:1", nil, false},
		{"link-local", nil, "[fe80::1%eth0]:1", nil, false},
		{"a socket", nil, "@", nil, false},
		{"a public proxy", nil, "192.0.2.1:1", map[string]string{"X-Forwarded-For": "203.0.113.9"}, false},
		{"a public proxy, RFC 7239", nil, "192.0.2.1:1", map[string]string{"Forwarded": "for=203.0.113.9"}, false},
		{"a public proxy, Via", nil, "192.0.2.1:1", map[string]string{"Via": "1.1 edge"}, false},
		{"behind a named proxy", named, "10.0.0.1:1", map[string]string{"X-Forwarded-For": "203.0.113.9"}, true},
		{"behind a named proxy, in the intranet", named, "10.0.0.1:1",
			map[string]string{"X-Forwarded-For": "192.168.0.7"}, true},
		{"a trusted proxy without headers", named, "10.0.0.1:1", nil, false},
		{"past the named proxy", named, "192.0.2.1:1", map[string]string{"X-Forwarded-For": "203.0.113.9"}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []bool
			providers := []core.Provider{passwords()}
			a := newApp(t, core.Config{Providers: providers, TrustedProxies: row.proxies, Callbacks: core.Callbacks{
				Limit: func(_ context.Context, p core.LimitParams) (time.Duration, error) {
					got = append(got, p.PeerIsVisitor)
					return 0, nil
				},
			}})
			b := visit(t, a)
			form := url.Values{"csrfToken": {b.csrf()}, "email": {"ada@example.com"}, "password": {"wrong"}}
			r := b.request("POST", "/auth/callback/credentials", "application/x-www-form-urlencoded", form.Encode())
			r.RemoteAddr = row.remote
			for name, value := range row.header {
				r.Header.Set(name, value)
			}
			a.Handle(t.Context(), r)
			if len(got) != 1 || got[0] != row.want {
				t.Errorf("counts as a client: %v, want %v", got, row.want)
			}
		})
	}
}

func BenchmarkLimiter(b *testing.B) {
	l := core.NewLimiter(newClock().Now)
	p := from(core.AttemptCredentials, "ada@example.com", "192.0.2.1")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = l.Limit(b.Context(), p)
	}
}
