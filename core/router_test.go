package core_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestHeaderLimitOfTheRouter: a session that the router would not read again is not set, and one that has grown so long
// keeps the cookie that the browser has.
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

// TestRoutersOwnProxies: where the router says that the peer is no trusted proxy, what the peer says of others counts
// nowhere.
func TestRoutersOwnProxies(t *testing.T) {
	t.Parallel()
	var peer netip.Prefix
	a := newApp(t, core.Config{
		TrustHost: core.On, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
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
			t.Errorf("untrusted %v: answered %s", untrusted, body)
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

// TestTargetWithAHost: of the two hosts of a request in absolute form that of the target counts (RFC 9112 section
// 3.2.2).
func TestTargetWithAHost(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{TrustHost: core.On, Providers: []core.Provider{passwords()}})
	for host, status := range map[string]int{"header.test": 200, "<b>": 400} {
		r := a.Handle(t.Context(), &core.Request{
			Method: "GET", Target: "http://target.test/auth/providers", Hosts: []string{host}, Scheme: "http",
			Header: http.Header{},
		})
		if r.Status != status ||
			status == 200 && !strings.Contains(string(r.Body), `"http://target.test/auth/signin/credentials"`) {
			t.Errorf("Host %s: answered %d, %s", host, r.Status, r.Body)
		}
	}
}

// TestHookInFrontOfTheRoutes: the auth routes set their own cookies, and the hook in front of them none.
func TestHookInFrontOfTheRoutes(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	r := visit(t, a).pageRequest()
	v := a.Visit(t.Context(), r)
	r.Target = "/auth/signin"
	if response := a.Handle(v, r); response.Status != 200 || len(response.Cookies) == 0 {
		t.Fatalf("answered %d with %d cookies", response.Status, len(response.Cookies))
	}
	if h := answerOf(v); len(h) > 0 {
		t.Errorf("the hook adds %v", h)
	}
}

// TestMountPath finds the place of the routes on groups, and refuses groups that hide them.
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

// TestWarnHeaderLimit tells of routers that read little, and of no others.
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
		t.Error("nobody is told where the Auth is chosen per request")
	}
}
