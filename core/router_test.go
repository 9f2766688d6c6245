package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestHeaderLimitOfTheRouter: a session that exceeds the router's request header limit is not set. If a session grows
// too long, the browser keeps its old cookie.
func TestHeaderLimitOfTheRouter(t *testing.T) {
	t.Parallel()
	size := 0
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
		JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			return p.Token, p.Token.Extra.Set("pad", strings.Repeat("x", size))
		},
	}})
	for _, row := range []struct {
		name        string
		limit, size int
		set         bool
	}{
		{"no limit", 0, 3000, true}, {"a small session", 4096, 100, true}, {"a large one", 4096, 3000, false},
		{"a large one and room", 16384, 3000, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			size = row.size
			b := visit(t, a)
			r := b.request("POST", "/register", "", "")
			r.HeaderLimit = row.limit
			cookies, err := a.NewSession(t.Context(), r, &core.User{ID: "1"})
			if (len(cookies) > 0) != row.set || (err == nil) != row.set {
				t.Errorf("sets %d cookies, %v", len(cookies), err)
			}
			size = 0
			signIn(t, b)
			size = row.size
			r = b.pageRequest()
			r.HeaderLimit = row.limit
			v := a.Visit(t.Context(), r)
			if s, err := v.Session(); s == nil || err != nil {
				t.Errorf("the session is %v, %v", s, err)
			}
			if set := strings.Contains(strings.Join(answerOf(v)["Set-Cookie"], "\n"), sessionCookie); set != row.set {
				t.Errorf("a page sets the cookie: %v", set)
			}
		})
	}
}

// TestRoutersOwnProxies: if the router says that the peer is not a trusted proxy, its forwarded headers are ignored.
func TestRoutersOwnProxies(t *testing.T) {
	t.Parallel()
	var peer netip.Prefix
	a := newApp(t, core.Config{
		TrustHost: core.True, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		Providers: []core.Provider{passwords()},
	})
	for untrusted, want := range map[bool]string{false: "https://outside.test", true: "http://app.test"} {
		b := visit(t, a)
		b.origin = "http://app.test"
		b.header.Set("X-Forwarded-Host", "outside.test")
		b.header.Set("X-Forwarded-Proto", "https")
		r := b.request("GET", "/auth/providers", "", "")
		r.ProxyUntrusted = untrusted
		if body := string(a.Handle(t.Context(), r).Body); !strings.Contains(body, `"`+want+`/auth/signin/credentials"`) {
			t.Errorf("untrusted %v: responded %s", untrusted, body)
		}
	}
	limited := newApp(t, core.Config{
		URL: "https://app.test", TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		Providers: []core.Provider{passwords()},
		Callbacks: core.Callbacks{
			Limit: func(_ context.Context, p core.LimitParams) (time.Duration, error) { peer = p.Peer; return 0, nil },
		},
	})
	for untrusted, want := range map[bool]string{false: "203.0.113.9/32", true: "192.0.2.1/32"} {
		b := visit(t, limited)
		token := b.csrf()
		b.header.Set("X-Forwarded-For", "203.0.113.9")
		r := b.request("POST", "/auth/callback/credentials", "application/x-www-form-urlencoded", "csrfToken="+token)
		r.ProxyUntrusted = untrusted
		if limited.Handle(t.Context(), r); peer.String() != want {
			t.Errorf("untrusted %v: %v is counted, want %s", untrusted, peer, want)
		}
	}
}

// TestTargetWithAHost: if the request target is in absolute form, its host is used instead of the Host header (RFC 9112
// section 3.2.2).
func TestTargetWithAHost(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{TrustHost: core.True, Providers: []core.Provider{passwords()}})
	for host, status := range map[string]int{"header.test": 200, "<b>": 400} {
		r := a.Handle(t.Context(), &core.Request{
			Method: "GET", Target: "http://target.test/auth/providers", Hosts: []string{host}, Scheme: "http",
			Header: http.Header{},
		})
		if r.Status != status ||
			status == 200 && !strings.Contains(string(r.Body), `"http://target.test/auth/signin/credentials"`) {
			t.Errorf("Host %s: got status %d, %s", host, r.Status, r.Body)
		}
	}
}

// TestHookInFrontOfTheRoutes: the auth routes set their own cookies; the request hook that runs before them sets none.
func TestHookInFrontOfTheRoutes(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	r := visit(t, a).pageRequest()
	v := a.Visit(t.Context(), r)
	r.Target = "/auth/signin"
	if response := a.Handle(v, r); response.Status != 200 || len(response.Cookies) == 0 {
		t.Fatalf("got status %d with %d cookies", response.Status, len(response.Cookies))
	}
	if h := answerOf(v); len(h) > 0 {
		t.Errorf("the hook adds %v", h)
	}
}

// TestMountPath finds the path of the routes in router groups, and rejects groups that hide them.
func TestMountPath(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ base, prefix, want string }{
		{"/auth", "", "/auth"}, {"/auth", "/", "/auth"}, {"/api/auth", "/api", "/auth"}, {"/api/auth", "/api/", "/auth"},
		{"/a/b/auth", "/a/b", "/auth"},
		{"/auth", "/api", ""}, {"/api/auth", "/ap", ""}, {"/auth", "/auth", ""},
		{"", "", ""}, {"", "/api", ""},
	} {
		t.Run(row.base+" on "+row.prefix, func(t *testing.T) {
			defer func() {
				v := recover()
				if (v != nil) != (row.want == "") {
					t.Errorf("panicked: %v", v)
				}
				if says := strings.Contains(fmt.Sprint(v), "PerRequest"); says != (row.base == "") {
					t.Errorf("panicked: %v", v)
				}
			}()
			if got := core.PerRequest(row.base, nil).MountPath(row.prefix); got != row.want {
				t.Errorf("at %q, want %q", got, row.want)
			}
		})
	}
}

// TestWarnHeaderLimit warns only about routers with a low request header limit.
func TestWarnHeaderLimit(t *testing.T) {
	t.Parallel()
	for bytes, warned := range map[int]bool{4096: true, 8192: true, 16384: false, 1 << 20: false} {
		a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
		a.WarnHeaderLimit(bytes, "ReadBufferSize")
		if got := strings.Contains(a.log.String(), "code=small-header-limit"); got != warned {
			t.Errorf("%d bytes: the log says %s", bytes, a.log)
		}
	}
	before := slog.Default()
	defer slog.SetDefault(before)
	var log bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	core.PerRequest("/auth", nil).WarnHeaderLimit(4096, "ReadBufferSize")
	if !strings.Contains(log.String(), "ReadBufferSize") {
		t.Error("no warning with PerRequest")
	}
}

// TestNoCORS sends requests from another origin, with and without a preflight.
func TestNoCORS(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	signIn(t, b)
	for _, path := range []string{"session", "csrf", "providers", "signin", "signout"} {
		for _, method := range []string{"GET", "OPTIONS", "HEAD"} {
			for _, origin := range []string{"https://evil.example", "null", "https://app.test"} {
				b.header = http.Header{
					"Origin": {origin}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"content-type"},
				}
				r := b.send(method, "/auth/"+path, "", "")
				for name := range r.Header {
					if strings.HasPrefix(name, "Access-Control-") {
						t.Errorf("%s %s from %s: %s", method, path, origin, name)
					}
				}
				if method != "GET" && r.Status != 400 || r.Header.Get("X-Content-Type-Options") != "nosniff" {
					t.Errorf("%s %s: %d, %q", method, path, r.Status, r.Header.Get("X-Content-Type-Options"))
				}
				if path != "signin" && path != "signout" && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
					t.Errorf("%s %s is of type %q", method, path, r.Header.Get("Content-Type"))
				}
			}
		}
	}
	r := b.request("POST", "/auth/session", "application/x-www-form-urlencoded", url.Values{"csrfToken": {"x"}}.Encode())
	r.Header.Set("Origin", "https://evil.example")
	for name := range a.Handle(t.Context(), r).Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("POST session: %s", name)
		}
	}
}

// TestResponsesAreNotCached checks that no response with a cookie or a token may be cached.
func TestResponsesAreNotCached(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords(), (&service{}).provider("op")}})
	b := visit(t, a)
	b.header.Set("Origin", "https://evil.example")
	b.header.Set("Accept", "text/html")
	for what, r := range map[string]*core.Response{
		"csrf": b.get("/auth/csrf"), "session": b.get("/auth/session"), "providers": b.get("/auth/providers"),
		"sign-in page": b.get("/auth/signin"), "sign-out page": b.get("/auth/signout"),
		"error page": b.get("/auth/error?error=AccessDenied"), "verify-request": b.get("/auth/verify-request"),
		"unknown": b.get("/auth/nope"),
		"sign-in": b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}}),
		"start":   b.submit("/auth/signin/op", nil), "sign-out": b.submit("/auth/signout", nil),
	} {
		if cache := r.Header.Get("Cache-Control"); !strings.Contains(cache, "private") ||
			!strings.Contains(cache, "no-store") || r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: Cache-Control %q, X-Content-Type-Options %q", what, cache, r.Header.Get("X-Content-Type-Options"))
		}
		for name := range r.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s sends %s", what, name)
			}
		}
	}
}

// TestNothingPrivateIsShown stores the provider's tokens in the session token, and checks that the browser cannot read
// them.
func TestNothingPrivateIsShown(t *testing.T) {
	t.Parallel()
	const canary = "canary-5f1d"
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
		JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			return p.Token, p.Token.Extra.Set("access_token", canary)
		},
	}})
	b := visit(t, a)
	signIn(t, b)
	for _, path := range []string{"session", "providers", "csrf", "signin", "signout", "error"} {
		if r := b.get("/auth/" + path); strings.Contains(string(r.Body), canary) ||
			strings.Contains(string(r.Body), testSecret) {
			t.Errorf("GET %s shows it: %s", path, r.Body)
		}
	}
	if strings.Contains(a.log.String(), canary) {
		t.Error("the log shows it")
	}
}

// TestBadInput sends requests that no browser sends. Each has a defined result and one log message without the input,
// and none panics.
func TestBadInput(t *testing.T) {
	t.Parallel()
	const canary = "canary-9f8e7d"
	huge := strings.Repeat("x", 2<<20)
	for _, row := range []struct {
		name, method, target, contentType, body, cookie string
		status                                          int
		location                                        string
	}{
		{name: "unknown action", method: "GET", target: "/auth/nope", status: 400},
		{name: "outside the base path", method: "GET", target: "/authsession", status: 400},
		{name: "base path with a slash", method: "GET", target: "/auth/", status: 400},
		{name: "path that climbs", method: "GET", target: "/auth/../admin", status: 400},
		{name: "encoded slash", method: "GET", target: "/auth/callback%2fcredentials", status: 400},
		{name: "PUT", method: "PUT", target: "/auth/session", status: 400},
		{name: "HEAD", method: "HEAD", target: "/auth/signout", status: 400},
		{name: "unknown provider", method: "GET", target: "/auth/callback/" + canary, status: 302,
			location: "https://app.test/auth/error?error=Configuration"},
		{name: "malformed callback URL", method: "GET",
			target: "/auth/signin?callbackUrl=%2Fx%0A" + canary, status: 500},
		{name: "callback URL of another scheme", method: "GET",
			target: "/auth/signin?callbackUrl=ftp%3A%2F%2F" + canary, status: 200},
		{name: "foreign callback URL", method: "GET",
			target: "/auth/signin?callbackUrl=https%3A%2F%2Fevil.example", status: 200},
		{name: "malformed callback cookie", method: "GET", target: "/auth/signin",
			cookie: "__Secure-authjs.callback-url=blob:" + canary, status: 200},
		{name: "garbage as a session", method: "GET", target: "/auth/session",
			cookie: "__Secure-authjs.session-token=" + canary, status: 200},
		{name: "chunks with a gap", method: "GET", target: "/auth/session",
			cookie: "__Secure-authjs.session-token.7=" + canary, status: 200},
		{name: "broken cookies", method: "GET", target: "/auth/session", cookie: ";;=; \x01=%zz; a", status: 200},
		{name: "too many query fields", method: "GET", target: "/auth/session?" + strings.Repeat("a&", 500), status: 400},
		{name: "no CSRF token", method: "POST", target: "/auth/signout", contentType: "application/x-www-form-urlencoded",
			body: "x=" + canary, status: 302, location: "https://app.test/auth/signin?error=MissingCSRF"},
		{name: "wrong CSRF token", method: "POST", target: "/auth/signin", contentType: "application/x-www-form-urlencoded",
			body: "csrfToken=" + canary, status: 302, location: "https://app.test/auth/signin?error=MissingCSRF"},
		{name: "session update without a token", method: "POST", target: "/auth/session", contentType: "application/json",
			body: `{"data":{}}`, status: 400},
		{name: "broken JSON", method: "POST", target: "/auth/session", contentType: "application/json",
			body: `{"` + canary, status: 400},
		{name: "JSON with a name twice", method: "POST", target: "/auth/signout", contentType: "application/json",
			body: `{"csrfToken":"a","csrfToken":"b"}`, status: 400},
		{name: "broken form", method: "POST", target: "/auth/signout", contentType: "application/x-www-form-urlencoded",
			body: "a=%zz" + canary, status: 400},
		{name: "huge body", method: "POST", target: "/auth/signout",
			contentType: "application/x-www-form-urlencoded", body: huge, status: 413},
		{name: "markup as an error", method: "GET", target: "/auth/error?error=%3Cscript%3E" + canary, status: 200},
		{name: "credentials by GET", method: "GET",
			target: "/auth/callback/credentials?email=ada@example.com&password=" + canary,
			status: 302, location: "https://app.test/auth/error?error=Configuration"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
			b := visit(t, a)
			if row.cookie != "" {
				b.header.Set("Cookie", row.cookie)
			}
			r := b.send(row.method, row.target, row.contentType, row.body)
			if r.Status != row.status || row.location != "" && r.Redirect != row.location {
				t.Errorf("got status %d to %q, want %d to %q", r.Status, r.Redirect, row.status, row.location)
			}
			if strings.Contains(a.log.String(), canary) || strings.Contains(string(r.Body), canary) {
				t.Errorf("the input is in the response or the log\nlog: %s\nbody: %.300s", a.log, r.Body)
			}
		})
	}
}

// TestStoreOutage: if a store fails, no user is signed out and none is signed in.
func TestStoreOutage(t *testing.T) {
	t.Parallel()
	const cookie = "__Secure-authjs.session-token"
	for name, fail := range map[string]func() error{
		"error":   func() error { return errors.New("connection refused") },
		"panic":   func() error { panic("nil pointer") },
		"nothing": func() error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			b := visit(t, newApp(t, core.Config{Store: brokenStore{fail}}))
			b.cookies[cookie] = "s1"
			r := b.get("/auth/session")
			if r.Status != http.StatusInternalServerError || string(r.Body) == "null" || b.cookies[cookie] == "" {
				t.Errorf("got status %d: %s; cookie %q", r.Status, r.Body, b.cookies[cookie])
			}
			v := b.auth.Visit(t.Context(), b.request("GET", "/account", "", ""))
			if _, refusal := v.Require(); refusal == nil || refusal.Status != http.StatusInternalServerError {
				t.Errorf("the guard passed, or responded %+v", refusal)
			}
			if _, err := core.SessionFrom(v); err == nil {
				t.Error("the hook ignores that the store is unavailable")
			}
		})
	}
}

// TestRefusedRequestsNameTheirProvider: the log names the provider of a request that is rejected before its action
// starts.
func TestRefusedRequestsNameTheirProvider(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		target, host string
		named        bool
	}{
		"of another host":      {"/auth/callback/op", "evil.example", true},
		"with a broken query":  {"/auth/callback/op?" + strings.Repeat("a&", 500), "app.test", true},
		"of no such provider":  {"/auth/callback/nope", "evil.example", false},
		"with a callbackUrl":   {"/auth/callback/op?callbackUrl=ftp%3A%2F%2Fx", "app.test", true},
		"without any provider": {"/auth/callback", "evil.example", false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApp(t, core.Config{
				TrustedHosts: []string{"app.test"}, Providers: []core.Provider{(&service{}).provider("op")},
			})
			b := visit(t, a)
			b.origin = "https://" + row.host
			if r := b.get(row.target); r.Err == nil || strings.Contains(a.log.String(), "provider=op") != row.named {
				t.Errorf("got status %d, and the log says %s", r.Status, a.log)
			}
		})
	}
}
