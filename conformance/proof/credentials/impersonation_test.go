package credentials_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/plugins/admin"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// TestImpersonation uses the account of a user on each router, with both strategies, and with a session that needs
// several cookies.
func TestImpersonation(t *testing.T) {
	for name, row := range map[string]struct {
		strategy core.Strategy
		data     int // the number of bytes of the application in a session token
	}{
		"jwt": {core.StrategyJWT, 0}, "jwt in chunks": {core.StrategyJWT, 4000}, "database": {core.StrategyDatabase, 0},
	} {
		for _, adapter := range wire.Adapters() {
			t.Run(name+"/"+adapter, func(t *testing.T) { impersonated(t, adapter, row.strategy, row.data) })
		}
	}
}

// clockOf returns a clock, and a function that advances it.
func clockOf(start time.Time) (now func() time.Time, wait func(time.Duration)) {
	var mu sync.Mutex
	return func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return start
		}, func(d time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			start = start.Add(d)
		}
}

func impersonated(t *testing.T, adapter string, strategy core.Strategy, data int) {
	l, err := wire.Listen(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	now, wait := clockOf(time.Now().Truncate(time.Second))
	s := &site{T: t, url: "http://" + l.Addr().String()}
	isRoot := func(_ context.Context, id string) (bool, error) { return id == "root", nil }
	store := memory.New()
	s.auth, err = core.New(core.Config{
		URL: s.url, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: store, Now: now,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Session: core.SessionConfig{Strategy: strategy},
		Plugins: []core.Plugin{admin.New(admin.Options{
			Guard: func(_ context.Context, by *core.Session) error {
				if by.UserID != "root" {
					return core.ErrForbidden
				}
				return nil
			},
			IsAdmin: isRoot, Impersonate: true,
		})},
		Callbacks: core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			if data == 0 {
				return p.Token, nil
			}
			return p.Token, p.Token.Extra.Set("data", strings.Repeat("x", data))
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	stop, err := wire.Serve(adapter, wire.Site{
		Auth: s.auth, Mounted: true, API: api, APIScope: read, APIWriteScope: read,
		Private: private, PrivateGuards: []core.Guard{core.NotImpersonated()},
	}, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop() })
	root := &core.User{ID: "root", Email: "root@example.com"}
	for _, u := range []*core.User{root, ada} {
		if _, err := store.CreateUser(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	b := s.adminBrowser(root, now())
	is := func(who string, guarded int) {
		t.Helper()
		if r := s.send(b.Client, "GET", api, nil, "Accept", "application/json"); r.body != who {
			t.Errorf("the page says %s, want %s", r.body, who)
		}
		r := s.send(b.Client, "GET", private, nil, "Accept", "application/json")
		if r.StatusCode != guarded || (guarded == 200) != (r.body == wire.Secret) {
			t.Errorf("the guarded page has status %d: %s", r.StatusCode, r.body)
		}
	}
	const asRoot, asAda = `user "root", credential "", session true`,
		`user "ada", credential "", session true, actor "root"`
	is(asRoot, 200)
	own := b.values("authjs.session-token")
	start := s.change(b, "/auth/admin/impersonate", "user", "ada", "reason", "Ticket 7")
	if start.StatusCode != http.StatusOK {
		t.Fatalf("the start has status %d: %s", start.StatusCode, start.body)
	}
	// Both cookies have the attributes of the session cookie, and last as long as the administrator's session.
	expires := now().Add(30 * 24 * time.Hour).UTC().Format(http.TimeFormat)
	attributes := `; Path=/; Expires=` + expires + `; HttpOnly; SameSite=Lax`
	b.set(start, attributes, len(own), len(own))
	if got := b.values("authjs.session-token-actor"); !slices.Equal(got, own) {
		t.Errorf("the second cookie is %q, want %q", got, own)
	}
	is(asAda, 403)
	if r := s.change(b, "/auth/session", "data", "{}"); r.StatusCode != http.StatusForbidden ||
		len(r.Header["Set-Cookie"]) > 0 {
		t.Errorf("a change of the session has status %d: %s %q", r.StatusCode, r.body, r.Header["Set-Cookie"])
	}
	end := s.change(b, "/auth/admin/end-impersonation")
	if end.StatusCode != http.StatusOK || !strings.Contains(end.body, `"restored":true`) {
		t.Fatalf("the end has status %d: %s", end.StatusCode, end.body)
	}
	if got := b.values("authjs.session-token"); !slices.Equal(got, own) {
		t.Errorf("the restored cookie is %q, want %q", got, own)
	}
	if got := b.values("authjs.session-token-actor"); len(got) > 0 {
		t.Errorf("the second cookie is left: %q", got)
	}
	is(asRoot, 200)
	s.change(b, "/auth/admin/impersonate", "user", "ada", "reason", "Ticket 8")
	is(asAda, 403)
	wait(time.Hour + time.Second)
	if r := s.send(b.Client, "GET", api, nil, "Accept", "application/json"); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("after an hour, a script has status %d: %s", r.StatusCode, r.body)
	}
	if r := s.send(b.Client, "GET", api, nil, "Accept", "text/html"); r.body != asRoot {
		t.Errorf("after an hour, the page says %s", r.body)
	}
	if got := b.values("authjs.session-token-actor"); len(got) > 0 {
		t.Errorf("the second cookie is left: %q", got)
	}
	is(asRoot, 200)
}

// adminBrowser is a browser of an administrator.
type adminBrowser struct {
	*http.Client
	s *site
}

// adminBrowser returns a browser of a user who has signed in with two factors.
func (s *site) adminBrowser(u *core.User, now time.Time) *adminBrowser {
	s.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	at := s.at()
	set, err := s.auth.NewSession(s.Context(), &core.Request{
		Method: http.MethodGet, Target: "/", Hosts: []string{at.Host}, Scheme: "http", Header: http.Header{},
	}, u, core.SessionOptions{AuthTime: now, Methods: []amr.Method{amr.Password, amr.OTP}})
	if err != nil {
		s.Fatal(err)
	}
	var cookies []*http.Cookie
	for _, c := range set {
		parsed, err := http.ParseSetCookie(c.String())
		if err != nil {
			s.Fatal(err)
		}
		cookies = append(cookies, parsed)
	}
	jar.SetCookies(at, cookies)
	return &adminBrowser{&http.Client{Jar: jar}, s}
}

func (s *site) at() *url.URL {
	s.Helper()
	at, err := url.Parse(s.url)
	if err != nil {
		s.Fatal(err)
	}
	return at
}

// values returns the values of the cookies with a name, or of its chunks.
func (b *adminBrowser) values(name string) (all []string) {
	chunk := regexp.MustCompile(`^` + regexp.QuoteMeta(name) + `(\.[0-9]+)?$`)
	for _, c := range b.Jar.Cookies(b.s.at()) {
		if chunk.MatchString(c.Name) {
			all = append(all, c.Value)
		}
	}
	return all
}

// set checks the Set-Cookie lines of a response: sessions cookies of the session and actors second cookies, with these
// attributes, and no others.
func (b *adminBrowser) set(r reply, attributes string, sessions, actors int) {
	b.s.Helper()
	got := map[bool]int{}
	for _, line := range r.Header["Set-Cookie"] {
		pair, rest, _ := strings.Cut(line, ";")
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "authjs.session-token") || ";"+rest != attributes {
			b.s.Errorf("sets %s, want %s", line, attributes)
		}
		got[strings.Contains(name, "-actor")]++
	}
	if got[false] != sessions || got[true] != actors {
		b.s.Errorf("sets %d and %d cookies, want %d and %d", got[false], got[true], sessions, actors)
	}
}

// change posts fields as JSON with the CSRF token.
func (s *site) change(b *adminBrowser, path string, fields ...string) reply {
	s.Helper()
	var token struct{ CSRFToken string }
	r := s.send(b.Client, "GET", "/auth/csrf", nil)
	if err := json.Unmarshal([]byte(r.body), &token); err != nil {
		s.Fatal(err)
	}
	form := url.Values{"csrfToken": {token.CSRFToken}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return s.send(b.Client, "POST", path, form, "Accept", "application/json", "Origin", s.url)
}
