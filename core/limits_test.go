package core_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
)

// shelf is an in-memory store of records only.
type shelf struct {
	core.Store
	mu            sync.Mutex
	records       map[string]store.Record
	reads, writes int
	fail          error
	before        func() // runs before a write, outside of the lock
}

func (s *shelf) writing() {
	if f := s.before; f != nil {
		s.before = nil
		f()
	}
}

func newShelf() *shelf { return &shelf{Store: brokenStore{}, records: map[string]store.Record{}} }

func (s *shelf) step(count *int) (func(), error) {
	s.mu.Lock()
	*count++
	return s.mu.Unlock, s.fail
}

func (s *shelf) CreateRecord(_ context.Context, r *store.Record) error {
	s.writing()
	done, err := s.step(&s.writes)
	defer done()
	if _, taken := s.records[r.Kind+"/"+r.Key]; taken {
		return core.ErrConflict
	}
	r.Version = 1
	s.records[r.Kind+"/"+r.Key] = *r.Clone()
	return errors.Join(err, r.Check())
}

func (s *shelf) Record(_ context.Context, kind, key string) (*store.Record, error) {
	done, err := s.step(&s.reads)
	defer done()
	r, there := s.records[kind+"/"+key]
	if !there && err == nil {
		err = core.ErrNotFound
	}
	return r.Clone(), err
}

func (s *shelf) UpdateRecord(_ context.Context, r *store.Record) error {
	s.writing()
	done, err := s.step(&s.writes)
	defer done()
	switch kept, there := s.records[r.Kind+"/"+r.Key]; {
	case !there:
		return core.ErrNotFound
	case kept.Version != r.Version:
		return core.ErrConflict
	}
	r.Version++
	s.records[r.Kind+"/"+r.Key] = *r.Clone()
	return errors.Join(err, r.Check())
}

func (s *shelf) DeleteRecord(_ context.Context, kind, key string) (*store.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.records[kind+"/"+key]
	if !ok {
		return nil, core.ErrNotFound
	}
	delete(s.records, kind+"/"+key)
	return &r, nil
}
func (s *shelf) UserRecords(_ context.Context, _, _ string) ([]*store.Record, error) { return nil, nil }
func (s *shelf) DeleteUserRecords(_ context.Context, _, _ string) (int, error)       { return 0, nil }

func (s *shelf) counts() (reads, writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads, s.writes
}

// shared returns processes of one site that count together.
func shared(t *testing.T, n int, change func(*core.Config)) (apps []*app, s *shelf) {
	s = newShelf()
	for range n {
		c := core.Config{
			Store: s, Session: core.SessionConfig{Strategy: core.StrategyJWT}, Providers: []core.Provider{passwords()},
			Limits: core.Limits{Shared: true}, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		}
		if change != nil {
			change(&c)
		}
		apps = append(apps, newApp(t, c))
	}
	return apps, s
}

// guess posts a wrong password, and reports whether it was checked.
func guess(b *browser, name string) bool {
	r := b.submit("/auth/callback/credentials", url.Values{"email": {name}, "password": {"wrong"}})
	return errors.Is(r.Err, core.ErrCredentialsSignin)
}

// TestSharedLimitsOfFourProcesses checks that four processes together allow as many attempts as one, at least 90
// percent and never more, although they receive guesses concurrently.
func TestSharedLimitsOfFourProcesses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		peer func(i int) string
		most int
	}{
		{"one name, many places", func(i int) string { return fmt.Sprintf("192.0.2.%d:1", i) }, 50},
		{"one name, one place", func(int) string { return "192.0.2.1:1" }, 10},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			apps, s := shared(t, 4, nil)
			var on atomic.Int64
			var all sync.WaitGroup
			for n, a := range apps {
				for i := range 50 {
					b := visit(t, a)
					b.peer = row.peer(n*50 + i)
					all.Go(func() {
						if guess(b, "ada@example.com") {
							on.Add(1)
						}
					})
				}
			}
			all.Wait()
			got := int(on.Load())
			if got > row.most || float64(got) < 0.9*float64(row.most) {
				t.Errorf("%d of 200 guesses were allowed, want %d", got, row.most)
			}
			t.Logf("%d of %d were allowed", got, row.most)
			reads, writes := s.counts()
			for range 1000 {
				if guess(visit(t, apps[0]), "ada@example.com") {
					t.Fatal("a further guess was allowed")
				}
			}
			if r, w := s.counts(); r-reads > 3 || w != writes {
				t.Errorf("a thousand guesses that were refused: %d reads, %d writes", r-reads, w-writes)
			}
			for key, r := range s.records {
				if strings.Contains(fmt.Sprint(key, string(r.Value)), "ada") || r.UserID != "" || r.Expires.IsZero() {
					t.Errorf("the record %s reveals the user: %s", key, r.Value)
				}
			}
		})
	}
}

// TestSharedLimitsGiveBack checks that the next guess is checked after the returned wait, in any process; that correct
// sign-ins do not add up; and that an attempt that one bucket refuses is not counted in another.
func TestSharedLimitsGiveBack(t *testing.T) {
	t.Parallel()
	apps, _ := shared(t, 2, nil)
	for range 100 {
		signIn(t, visit(t, apps[0]))
	}
	one, two := visit(t, apps[0]), visit(t, apps[1])
	for range 5 {
		guess(one, "ada@example.com")
		guess(two, "ada@example.com")
	}
	r := two.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}})
	if r.Status != 429 || r.Header.Get("Retry-After") != "300" {
		t.Errorf("the eleventh: status %d, Retry-After %q", r.Status, r.Header.Get("Retry-After"))
	}
	for _, a := range apps {
		a.clock.Advance(5*time.Minute - time.Second)
	}
	if guess(one, "ada@example.com") {
		t.Error("a guess was allowed a second early")
	}
	for _, a := range apps {
		a.clock.Advance(time.Second)
	}
	if !guess(one, "ada@example.com") || guess(two, "ada@example.com") {
		t.Error("after the wait one guess is allowed, in one process")
	}
	other := visit(t, apps[1])
	other.peer = "198.51.100.7:1"
	for range 9 {
		if !guess(other, "ada@example.com") {
			t.Fatal("refused guesses count against the name")
		}
	}
}

// TestSharedLimitsOvertaken checks two processes that allow the last guess at the same time. One of them gets a write
// conflict and refuses, and its earlier counts for the name are removed.
func TestSharedLimitsOvertaken(t *testing.T) {
	t.Parallel()
	apps, s := shared(t, 3, nil)
	one, two := visit(t, apps[0]), visit(t, apps[1])
	for range 9 {
		guess(one, "ada@example.com")
	}
	overtook := false
	s.before = func() { overtook = guess(two, "ada@example.com") }
	if guess(one, "ada@example.com") || !overtook {
		t.Errorf("the eleventh guess was allowed, the tenth: %v", overtook)
	}
	left := 0
	for i := range 100 {
		b := visit(t, apps[2])
		b.peer = fmt.Sprintf("198.51.100.%d:1", i)
		if guess(b, "ada@example.com") {
			left++
		}
	}
	if left != 40 {
		t.Errorf("%d guesses are left for the name, want 40", left)
	}
}

// TestSharedLimitsOfClocks checks that processes with different clocks, and one with a clock that is set back, never
// make a client wait longer than an empty bucket does.
func TestSharedLimitsOfClocks(t *testing.T) {
	t.Parallel()
	apps, _ := shared(t, 2, nil)
	apps[0].clock.Advance(24 * time.Hour)
	ahead, behind := visit(t, apps[0]), visit(t, apps[1])
	for range 20 {
		guess(ahead, "ada@example.com")
	}
	r := behind.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}})
	if r.Status != 429 || r.Header.Get("Retry-After") != "300" {
		t.Errorf("behind by a day: %d, Retry-After %q", r.Status, r.Header.Get("Retry-After"))
	}
	apps[0].clock.Advance(-48 * time.Hour)
	r = ahead.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}})
	if r.Status != 429 || r.Header.Get("Retry-After") != "300" {
		t.Errorf("set back by two days: %d, Retry-After %q", r.Status, r.Header.Get("Retry-After"))
	}
}

// TestSharedLimitsKeys checks that the keys of the records depend on the secret and contain no name.
func TestSharedLimitsKeys(t *testing.T) {
	t.Parallel()
	keys := func(secret string) []string {
		apps, s := shared(t, 1, func(c *core.Config) { c.Secrets = []core.Secret{core.Secret(strings.Repeat(secret, 32))} })
		guess(visit(t, apps[0]), "ada@example.com")
		return slices.Sorted(maps.Keys(s.records))
	}
	one, another := keys("1"), keys("2")
	if len(one) < 3 || slices.ContainsFunc(one, func(key string) bool {
		return slices.Contains(another, key) || strings.Contains(key, "ada")
	}) {
		t.Errorf("got %q, and with another secret %q", one, another)
	}
}

// TestSharedLimitsFailClosed checks that no attempt is allowed if the store fails.
func TestSharedLimitsFailClosed(t *testing.T) {
	t.Parallel()
	apps, s := shared(t, 1, nil)
	b := visit(t, apps[0])
	s.fail = errors.New("down")
	r := b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	if !errors.Is(r.Err, core.ErrStore) || b.cookies[sessionCookie] != "" {
		t.Errorf("status %d: %v", r.Status, r.Err)
	}
	s.fail = nil
	signIn(t, b)
}

// remembering returns an application with known browsers.
func remembering(t *testing.T) *app {
	return newApp(t, core.Config{
		Providers: []core.Provider{anybody()}, Limits: core.Limits{KnownBrowsers: core.True},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	})
}

// anybody returns a provider that accepts the password "engine" for every name.
func anybody() *core.CredentialsProvider {
	return &core.CredentialsProvider{
		Authorize: func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
			if form["password"] == "engine" {
				return &core.User{ID: form["email"]}, nil
			}
			return nil, nil
		},
	}
}

const knownBrowserCookie = "__Host-latchkey.known"

func enter(b *browser, name string) bool {
	r := b.submit("/auth/callback/credentials", url.Values{"email": {name}, "password": {"engine"}})
	return r.Err == nil && r.Status == 302
}

// TestKnownBrowserIsNotLockedOut checks that the owner of a name can sign in in a known browser after attackers in many
// networks used up its limit, and that no other client can.
func TestKnownBrowserIsNotLockedOut(t *testing.T) {
	t.Parallel()
	a := remembering(t)
	owner, elsewhere := visit(t, a), visit(t, a)
	if !enter(owner, "ada") || owner.cookies[knownBrowserCookie] == "" {
		t.Fatal("the browser is not remembered")
	}
	for i := range 60 {
		stranger := visit(t, a)
		stranger.peer = fmt.Sprintf("198.51.100.%d:1", i)
		guess(stranger, "ada")
	}
	elsewhere.peer = "203.0.113.9:1"
	if enter(elsewhere, "ada") {
		t.Fatal("the name is not used up: the test proves nothing")
	}
	for range 20 {
		if !enter(owner, "ada") {
			t.Fatal("the owner is locked out")
		}
	}
	tried := 0
	for range 40 {
		if guess(owner, "ada") {
			tried++
		}
	}
	if tried != 10 {
		t.Errorf("%d guesses in the known browser", tried)
	}
	for i := range 60 {
		if r := guess(owner, fmt.Sprintf("name %d", i)); !r && i < 50 {
			t.Fatalf("other names wait for this one: guess %d", i)
		}
	}
	a.clock.Advance(181 * 24 * time.Hour)
	seen := askedWith(t, owner, "ada")
	if seen != "" {
		t.Error("the browser is known after half a year")
	}
}

// askedWith returns LimitParams.Browser of an attempt with the cookies of b.
func askedWith(t *testing.T, b *browser, name string) (id string) {
	t.Helper()
	a := newApp(t, core.Config{
		Providers: []core.Provider{anybody()}, Limits: core.Limits{KnownBrowsers: core.True}, Now: b.auth.(*app).clock.Now,
		Callbacks: core.Callbacks{Limit: func(_ context.Context, p core.LimitParams) (time.Duration, error) {
			id = p.Browser
			return time.Second, nil
		}},
	})
	other := visit(t, a)
	other.cookies[knownBrowserCookie] = b.cookies[knownBrowserCookie]
	guess(other, name)
	return id
}

// TestKnownBrowserCookie checks which users the cookie remembers, and that it has no other use.
func TestKnownBrowserCookie(t *testing.T) {
	t.Parallel()
	a := remembering(t)
	b := visit(t, a)
	for i := range 12 {
		if !enter(b, fmt.Sprintf("name %d", i)) {
			t.Fatal("no sign-in")
		}
	}
	known := 0
	for i := range 12 {
		if askedWith(t, b, fmt.Sprintf("name %d", i)) != "" {
			known++
			if i < 4 {
				t.Errorf("name %d is remembered, and it is the %dth last", i, 12-i)
			}
		}
	}
	if known != 8 || len(b.cookies[knownBrowserCookie]) > 1024 {
		t.Errorf("%d people are remembered in %d bytes", known, len(b.cookies[knownBrowserCookie]))
	}
	if askedWith(t, b, "NAME 11 ") == "" {
		t.Error("another spelling of the name is another person")
	}
	other := visit(t, a)
	enter(other, "name 11")
	if one, two := askedWith(t, b, "name 11"), askedWith(t, other, "name 11"); one == two || len(one) < 16 {
		t.Errorf("two browsers are %q and %q", one, two)
	}
	guess(visit(t, a), "eve")
	forged := visit(t, a)
	for name, value := range map[string]string{
		"nothing": "", "text": "x", "cut": b.cookies[knownBrowserCookie][:40],
		"altered": b.cookies[knownBrowserCookie] + "A", "a session": b.cookies[sessionCookie],
	} {
		forged.cookies[knownBrowserCookie] = value
		if askedWith(t, forged, "name 11") != "" {
			t.Errorf("%s is trusted", name)
		}
	}
	r := visit(t, a).submit("/auth/callback/credentials", url.Values{"email": {"eve"}, "password": {"wrong"}})
	if slices.ContainsFunc(r.Cookies, func(c core.Cookie) bool { return c.Name == knownBrowserCookie }) {
		t.Error("a wrong password makes a browser known")
	}
	r = visit(t, a).submit("/auth/callback/credentials", url.Values{"email": {"eve"}, "password": {"engine"}})
	i := slices.IndexFunc(r.Cookies, func(c core.Cookie) bool { return c.Name == knownBrowserCookie })
	if i < 0 || !r.Cookies[i].HTTPOnly || !r.Cookies[i].Secure || r.Cookies[i].MaxAge != 180*24*3600 ||
		r.Cookies[i].Domain != "" || strings.Contains(r.Cookies[i].Value, "eve") {
		t.Errorf("the cookie is %+v", r.Cookies)
	}
}

// TestKnownBrowsersAreOptional checks that no cookie is set unless known browsers are requested, as in Auth.js.
func TestKnownBrowsersAreOptional(t *testing.T) {
	t.Parallel()
	asks := partFunc(func(h *core.PluginHost) error { h.RememberBrowsers(); return nil })
	rates := map[limit.Attempt]limit.Rates{limit.AttemptMail: {Network: limit.Rate{Burst: 1, Every: time.Minute}}}
	limit := func(context.Context, core.LimitParams) (time.Duration, error) { return 0, nil }
	for name, row := range map[string]struct {
		change func(c *core.Config)
		want   bool
	}{
		"by default": {func(*core.Config) {}, false},
		"Shared":     {func(c *core.Config) { c.Store, c.Limits.Shared = newShelf(), true }, true},
		"Rates":      {func(c *core.Config) { c.Limits.Rates = rates }, true},
		"On":         {func(c *core.Config) { c.Limits.KnownBrowsers = core.True }, true},
		"a part":     {func(c *core.Config) { c.Plugins = []core.Plugin{asks} }, true},
		"a plugin, off": {
			func(c *core.Config) { c.Plugins, c.Limits.KnownBrowsers = []core.Plugin{asks}, core.False }, false,
		},
		"a part, no limits": {func(c *core.Config) { c.Plugins, c.InsecureNoLimits = []core.Plugin{asks}, true },
			false},
		"a part, Callbacks.Limit": {func(c *core.Config) { c.Plugins, c.Callbacks.Limit = []core.Plugin{asks}, limit },
			false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := core.Config{Providers: []core.Provider{anybody()}, Session: core.SessionConfig{Strategy: core.StrategyJWT}}
			row.change(&c)
			b := visit(t, newApp(t, c))
			if !enter(b, "ada") || (b.cookies[knownBrowserCookie] != "") != row.want {
				t.Errorf("cookies %v", b.cookies)
			}
		})
	}
}

// TestLimitWithoutPeer checks that a proxy that is not configured is logged once, and that its forwarded addresses are
// ignored.
func TestLimitWithoutPeer(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		peer    string
		header  string
		proxies []netip.Prefix
		want    int
	}{
		"a proxy that is not named": {"10.0.0.1:1", "X-Forwarded-For", nil, 1},
		"a proxy that is named": {
			"10.0.0.1:1", "X-Forwarded-For", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, 0,
		},
		"this machine":           {"127.0.0.1:1", "", nil, 0},
		"a client that pretends": {"192.0.2.1:1", "X-Forwarded-For", nil, 1},
	} {
		a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, TrustedProxies: row.proxies})
		b := visit(t, a)
		b.peer = row.peer
		if row.header != "" {
			b.header.Set(row.header, "198.51.100.7")
		}
		for range 3 {
			guess(b, "ada@example.com")
		}
		if got := strings.Count(a.log.String(), "code=limit-without-peer"); got != row.want {
			t.Errorf("%s: told %d times", name, got)
		}
	}
}

// TestNoTrustedProxies checks that New logs one warning for an https site that cannot distinguish clients behind a
// proxy.
func TestNoTrustedProxies(t *testing.T) {
	t.Parallel()
	none := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	for name, row := range map[string]struct {
		config core.Config
		want   int
	}{
		"passwords on https": {core.Config{URL: "https://app.test", Providers: []core.Provider{passwords()}}, 1},
		"an action of a plugin": {core.Config{URL: "https://app.test", Plugins: []core.Plugin{answers(says("GET", "toy",
			""))}}, 1},
		"OAuth alone":            {core.Config{URL: "https://app.test", Providers: []core.Provider{plainOAuth()}}, 0},
		"development":            {core.Config{URL: "http://localhost:3000", Providers: []core.Provider{passwords()}}, 0},
		"proxies are configured": {core.Config{TrustedProxies: none, Providers: []core.Provider{passwords()}}, 0},
		"no limits":              {core.Config{InsecureNoLimits: true, Providers: []core.Provider{passwords()}}, 0},
	} {
		a := newApp(t, row.config)
		visit(t, a).get("/auth/session")
		if got := strings.Count(a.log.String(), "code=no-trusted-proxies"); got != row.want {
			t.Errorf("%s: warned %d times", name, got)
		}
	}
}

// TestLinkRequestedAgain checks that a link that is requested again within minutes causes no second email if known
// browsers are on, and that the first link works. An attacker who uses up the limit of the address cannot keep its
// owner from that link.
func TestLinkRequestedAgain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		known   core.OptionalBool
		between func(a *app, b *browser, link string)
		want    int
	}{
		"as Auth.js":        {core.False, func(*app, *browser, string) {}, 2},
		"at once":           {core.True, func(*app, *browser, string) {}, 1},
		"six minutes later": {core.True, func(a *app, _ *browser, _ string) { a.clock.Advance(6 * time.Minute) }, 2},
		"after it was used": {core.True, func(_ *app, b *browser, link string) { b.get(link) }, 2},
		"with an empty limit": {core.True, func(a *app, _ *browser, _ string) {
			for i := range 20 {
				attacker := visit(t, a)
				attacker.peer = fmt.Sprintf("198.51.100.%d:1", i)
				attacker.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
			}
		}, 1},
	} {
		shelf := newShelf()
		rows := &tokenRows{sessionRows: newSessionRows(), tokens: map[string]store.VerificationToken{}}
		sent, link := 0, ""
		a := newApp(t, core.Config{
			Store: struct {
				*tokenRows
				store.RecordStore
			}{rows, shelf}, Limits: core.Limits{KnownBrowsers: row.known},
			Session: core.SessionConfig{Strategy: core.StrategyJWT},
			Providers: []core.Provider{&core.EmailProvider{
				ConfirmLink: core.False, Send: func(_ context.Context, m core.Email) error {
					sent++
					link = strings.TrimPrefix(string(m.URL), "https://app.test")
					return nil
				},
			}},
		})
		b := visit(t, a)
		first := b.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
		row.between(a, b, link)
		owner := visit(t, a)
		owner.peer = "203.0.113.9:1"
		again := owner.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
		if again.Redirect != first.Redirect || first.Redirect == "" || sent != row.want {
			t.Errorf("%s: redirects to %s and %s, %d emails", name, first.Redirect, again.Redirect, sent)
		}
		if r := owner.get(link); r.Err != nil {
			t.Errorf("%s: the link: %v", name, r.Err)
		}
	}
}

// TestKnownForOneSpelling checks that a browser is known for other spellings of the same name, and not for the name of
// another user that differs in an accent or an invisible character.
func TestKnownForOneSpelling(t *testing.T) {
	t.Parallel()
	a := remembering(t)
	for signedIn, row := range map[string]struct{ known, unknown []string }{
		"áda@example.com": {
			[]string{"áda@example.com", " ÁDA@Example.com ", "a\u0301da@example.com"},
			[]string{"ada@example.com", "àda@example.com", "áda@éxample.com"},
		},
		"Zoë": {[]string{"zoë", "ZOË "}, []string{"zoe", "zo\u200be"}},
	} {
		b := visit(t, a)
		if !enter(b, signedIn) {
			t.Fatalf("%q does not sign in", signedIn)
		}
		for _, name := range row.known {
			if askedWith(t, b, name) == "" {
				t.Errorf("%q: the browser is not known for %q", signedIn, name)
			}
		}
		for _, name := range row.unknown {
			if askedWith(t, b, name) != "" {
				t.Errorf("%q: the browser is known for %q", signedIn, name)
			}
		}
	}
}

// TestLinkRequestedThroughAnotherHost checks that a link that an attacker requests through another host points to that
// host, and does not suppress the link that the owner requests.
func TestLinkRequestedThroughAnotherHost(t *testing.T) {
	t.Parallel()
	for name, trust := range map[string]func(*core.Config){
		"two trusted hosts": func(c *core.Config) { c.TrustedHosts = []string{"app.test", "other.test"} },
		"every host":        func(c *core.Config) { c.TrustHost = core.True },
	} {
		var links []string
		c := core.Config{
			Store: struct {
				*tokenRows
				store.RecordStore
			}{&tokenRows{sessionRows: newSessionRows(), tokens: map[string]store.VerificationToken{}}, newShelf()},
			Limits: core.Limits{KnownBrowsers: core.True}, Session: core.SessionConfig{Strategy: core.StrategyJWT},
			Providers: []core.Provider{&core.EmailProvider{Send: func(_ context.Context, m core.Email) error {
				host, _, _ := strings.Cut(strings.TrimPrefix(string(m.URL), "https://"), "/")
				links = append(links, host)
				return nil
			}}},
		}
		trust(&c)
		a := newApp(t, c)
		for i, origin := range []string{"https://other.test", "https://app.test", "https://app.test"} {
			b := visit(t, a)
			b.origin, b.peer = origin, fmt.Sprintf("203.0.113.%d:1", i)
			b.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
		}
		if got := strings.Join(links, " "); got != "other.test app.test" {
			t.Errorf("%s: links point to %q", name, got)
		}
	}
}

// TestKnownByAnyMethod checks that each sign-in method makes the browser known for the user's address. A pending
// sign-in does so only when it is complete.
func TestKnownByAnyMethod(t *testing.T) {
	t.Parallel()
	ada := &core.User{ID: "7", Email: "ada@example.com", EmailVerified: start}
	mallory := &core.User{ID: "8", Email: "ada@example.com"}
	signsIn := core.Action{Method: "POST", Name: "toy", Verb: "in",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return c.SignIn(ctx, core.SignIn{User: ada})
		}}
	unverified := core.Action{Method: "POST", Name: "toy", Verb: "unverified",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return c.SignIn(ctx, core.SignIn{User: mallory})
		}}
	proves := func(verb string, user *core.User) core.Action {
		return core.Action{Method: "POST", Name: "toy", Verb: verb,
			Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
				c.RememberBrowser(ctx, user)
				return c.JSON(ctx, 200, nil), nil
			}}
	}
	rows := &tokenRows{sessionRows: newSessionRows(), tokens: map[string]store.VerificationToken{}}
	var link string
	a := newApp(t, core.Config{
		Store: rows, Limits: core.Limits{KnownBrowsers: core.True}, Plugins: []core.Plugin{answers(
			signsIn, unverified, proves("proves", ada), proves("proves-unverified", mallory),
		)},
		Providers: []core.Provider{anybody(), &core.EmailProvider{
			ConfirmLink: core.False,
			Send:        func(_ context.Context, m core.Email) error { link = string(m.URL); return nil },
		}},
		Session: core.SessionConfig{Strategy: core.StrategyJWT},
	})
	for name, row := range map[string]struct {
		in    func(b *browser)
		known []string
	}{
		"credentials": {func(b *browser) { enter(b, "Ada@Example.com ") }, []string{"ada@example.com"}},
		"a plugin":    {func(b *browser) { b.submit("/auth/toy/in", nil) }, []string{"ada@example.com", "7"}},
		"a reset":     {func(b *browser) { b.submit("/auth/toy/proves", nil) }, []string{"ada@example.com", "7"}},
		"an email link": {func(b *browser) {
			b.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
			b.get(strings.TrimPrefix(link, "https://app.test"))
		}, []string{"ada@example.com"}},
	} {
		b := visit(t, a)
		row.in(b)
		for _, as := range row.known {
			if askedWith(t, b, as) == "" {
				t.Errorf("%s: the browser is not known for %s", name, as)
			}
		}
		if askedWith(t, b, "eve@example.com") != "" {
			t.Errorf("%s: the browser is known for others", name)
		}
	}
	for _, verb := range []string{"unverified", "proves-unverified"} {
		b := visit(t, a)
		b.submit("/auth/toy/"+verb, nil)
		if askedWith(t, b, "8") == "" || askedWith(t, b, "ada@example.com") != "" {
			t.Errorf("%s: the browser is known for an address that its user has not verified", verb)
		}
	}
}

// TestRates checks configured rates, for an attempt of core and one of a plugin, and together with a Limit callback.
func TestRates(t *testing.T) {
	t.Parallel()
	asked := 0
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords()},
		Limits: core.Limits{Rates: map[limit.Attempt]limit.Rates{
			limit.AttemptCredentials: {Visitor: limit.Rate{Burst: 2, Every: time.Hour}},
			"coffee":                 {Identifier: limit.Rate{Burst: 3, Every: time.Minute}},
		}},
		Callbacks: core.Callbacks{Limit: func(context.Context, core.LimitParams) (time.Duration, error) {
			asked++
			return 0, nil
		}},
		Plugins: []core.Plugin{answers(core.Action{Method: "POST", Name: "coffee",
			Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
				if err := c.Allow(ctx, "coffee", c.Field("name")); err != nil {
					return nil, err
				}
				if c.Field("good") != "" {
					c.ResetAttempts(ctx, "coffee", c.Field("name"))
				}
				return c.JSON(ctx, http.StatusOK, "served"), nil
			}})},
	})
	b, tried := visit(t, a), 0
	for range 10 {
		if guess(b, "ada@example.com") {
			tried++
		}
	}
	served := 0
	for range 10 {
		if b.submit("/auth/coffee", url.Values{"name": {"ada"}}).Status == 200 {
			served++
		}
	}
	for range 10 {
		if b.submit("/auth/coffee", url.Values{"name": {"bob"}, "good": {"1"}}).Status != 200 {
			t.Error("forgiven attempts count")
		}
	}
	if tried != 2 || served != 3 || asked != 30 {
		t.Errorf("%d guesses, %d cups, the callback was asked %d times", tried, served, asked)
	}
}

// TestLimitsFaults checks the configuration errors of limits.
func TestLimitsFaults(t *testing.T) {
	t.Parallel()
	rates := func(r limit.Rates) core.Limits {
		return core.Limits{Rates: map[limit.Attempt]limit.Rates{limit.AttemptCode: r}}
	}
	for name, row := range map[string]struct {
		config core.Config
		want   string
	}{
		"no records": {
			core.Config{Limits: core.Limits{Shared: true}}, "Limits.Shared needs a Store that is a store.RecordStore",
		},
		"both": {core.Config{InsecureNoLimits: true, Limits: core.Limits{Shared: true}}, "choose one of them"},
		"no burst": {
			core.Config{Limits: rates(limit.Rates{Network: limit.Rate{Every: time.Second}})},
			`Limits.Rates["code"].Network is 0, every 1s`,
		},
		"no time": {
			core.Config{Limits: rates(limit.Rates{Browser: limit.Rate{Burst: 1}})},
			`Limits.Rates["code"].Browser is 1, every 0s`,
		},
		"one client can lock out the owner": {
			core.Config{Limits: rates(limit.Rates{Visitor: limit.Rate{Burst: 20, Every: time.Hour}})},
			"could lock out the owner of a name",
		},
		"one client is allowed again sooner": {
			core.Config{Limits: rates(limit.Rates{Visitor: limit.Rate{Burst: 2, Every: time.Second}})},
			"could lock out the owner of a name",
		},
	} {
		c := row.config
		c.Secrets, c.Getenv, c.URL = []core.Secret{testSecret}, func(string) string { return "" }, "https://app.test"
		if _, err := core.New(c); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPluginAudits checks that the audit event of a plugin contains the properties of the request, and only a hash of
// the identifier.
func TestPluginAudits(t *testing.T) {
	t.Parallel()
	var trail trail
	a := newApp(t, core.Config{Audit: trail.note, Plugins: []core.Plugin{answers(core.Action{Method: "POST", Name: "reset",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			c.Audit(ctx, audit.Event{
				Name: audit.PasswordResetAsked, Outcome: audit.OK, Subject: c.Field("email"),
			})
			return c.JSON(ctx, http.StatusOK, "asked"), nil
		}})}})
	trail.take()
	visit(t, a).submit("/auth/reset", url.Values{"email": {"ada@example.com"}})
	events := trail.all()
	if len(events) != 1 || line(events[0]) != "password.reset.asked/ok" || len(events[0].Subject) != 22 ||
		!events[0].Peer.IsValid() || events[0].Time.IsZero() || events[0].Reference == "" {
		t.Errorf("got %+v", events)
	}
}

// TestPasswordsArriveUnchanged checks that Authorize receives the typed password unchanged: long ones, with blanks, in
// any script and case.
func TestPasswordsArriveUnchanged(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{
		"engine", " Engine ", strings.Repeat("pass phrase ", 16), "пароль\tβ𝛼e\u0301", `"'<>&%00\`, strings.Repeat("x", 4096),
	} {
		got := ""
		a := newApp(t, core.Config{Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
				got = form["password"]
				return nil, nil
			},
		}}})
		visit(t, a).submit("/auth/callback/credentials", url.Values{"email": {"ada"}, "password": {typed}})
		if got != typed {
			t.Errorf("typed %q, got %q", typed, got)
		}
	}
}

// TestLimitCallbacksShareNothing checks that Callbacks.Limit cannot change the form that Authorize and
// Callbacks.Forgive get.
func TestLimitCallbacksShareNothing(t *testing.T) {
	t.Parallel()
	var authorized, forgiven string
	a := newApp(t, core.Config{
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(_ context.Context, c map[string]string, _ *core.Request) (*core.User, error) {
				authorized = c["password"]
				return &core.User{ID: "u1"}, nil
			},
		}},
		Callbacks: core.Callbacks{
			Limit: func(_ context.Context, p core.LimitParams) (time.Duration, error) {
				delete(p.Credentials, "password")
				return 0, nil
			},
			Forgive: func(_ context.Context, p core.LimitParams) { forgiven = p.Credentials["password"] },
		},
	})
	visit(t, a).submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	if authorized != "engine" || forgiven != "engine" {
		t.Errorf("authorized with %q, forgiven with %q", authorized, forgiven)
	}
}
