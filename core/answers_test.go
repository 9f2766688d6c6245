package core_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestAnswersAreKeptByNobody looks at all answers that carry a cookie or a token (ATTACKS SE9 and SE10).
func TestAnswersAreKeptByNobody(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords(), (&service{}).provider("op")}})
	b := visit(t, a)
	b.header.Set("Origin", "https://evil.example")
	b.header.Set("Accept", "text/html")
	for what, r := range map[string]*core.Response{
		"csrf": b.get("/auth/csrf"), "session": b.get("/auth/session"), "providers": b.get("/auth/providers"), "sign-in page": b.get("/auth/signin"), "sign-out page": b.get("/auth/signout"),
		"error page": b.get("/auth/error?error=AccessDenied"), "verify-request": b.get("/auth/verify-request"), "unknown": b.get("/auth/nope"),
		"sign-in": b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}}),
		"start":   b.submit("/auth/signin/op", nil), "sign-out": b.submit("/auth/signout", nil),
	} {
		if cache := r.Header.Get("Cache-Control"); !strings.Contains(cache, "private") || !strings.Contains(cache, "no-store") || r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: Cache-Control %q, X-Content-Type-Options %q", what, cache, r.Header.Get("X-Content-Type-Options"))
		}
		for name := range r.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s sends %s", what, name)
			}
		}
	}
}

// TestSessionUpdateFromOutside posts data for claims that are not the visitor's to choose (ATTACKS SE4).
func TestSessionUpdateFromOutside(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	signIn(t, b)
	body, _ := json.Marshal(map[string]any{"csrfToken": b.csrf(), "data": map[string]any{
		"sub": "2", "id": "2", "email": "eve@evil.example", "name": "Eve", "exp": 4102444800, "iat": 1, "jti": "mine", "roles": []string{"admin"},
		"user": map[string]any{"id": "2", "email": "eve@evil.example"}, "expires": "2100-01-01T00:00:00Z",
	}})
	r := b.send("POST", "/auth/session", "application/json", string(body))
	if r.Status != 200 || strings.Contains(string(r.Body), "evil") || strings.Contains(string(r.Body), "admin") || !strings.Contains(string(r.Body), "ada@example.com") || !strings.Contains(string(r.Body), "2030-01-31") {
		t.Errorf("answered %d: %s", r.Status, r.Body)
	}
	token, err := a.DecodeToken(b.cookies[sessionCookie], sessionCookie)
	if err != nil || token.Subject != "1" || token.Email != "ada@example.com" || token.ID == "mine" || len(token.Extra) > 0 || token.Expires.Year() != 2030 {
		t.Errorf("token %+v, %v", token, err)
	}
}

// TestNothingPrivateIsShown signs in with tokens of the provider in the token, and reads what the browser may read (ATTACKS SE11).
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
		if r := b.get("/auth/" + path); strings.Contains(string(r.Body), canary) || strings.Contains(string(r.Body), testSecret) {
			t.Errorf("GET %s shows it: %s", path, r.Body)
		}
	}
	if strings.Contains(a.log.String(), canary) {
		t.Error("the log shows it")
	}
}

// TestSecureBehindAProxy keeps the secure cookies whatever a forwarded header says (ATTACKS HO4), and reads forwarded headers of
// trusted peers alone (HO6).
func TestSecureBehindAProxy(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		config core.Config
		peer   string
		secure bool
		host   string
	}{
		{"pinned", core.Config{URL: "https://app.test"}, "192.0.2.1:1", true, "https://app.test"},
		{"forced", core.Config{TrustHost: core.On, UseSecureCookies: core.On}, "192.0.2.1:1", true, "http://front.test"},
		{"trusted peer", core.Config{TrustHost: core.On, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, "10.1.2.3:1", false, "http://front.test"},
		{"a peer in IPv6 clothes", core.Config{TrustHost: core.On, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, "[::ffff:10.1.2.3]:1", false, "http://front.test"},
		{"any other peer", core.Config{TrustHost: core.On, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, "192.0.2.1:1", true, "https://app.test"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.config.Providers = []core.Provider{passwords()}
			a := newApp(t, row.config)
			r := visit(t, a).request("GET", "/auth/csrf", "", "")
			r.RemoteAddr = row.peer
			r.Header.Set("X-Forwarded-Proto", "http")
			r.Header.Set("X-Forwarded-Host", "front.test")
			answer := a.Handle(t.Context(), r)
			for _, c := range answer.Cookies {
				if c.Secure != row.secure || strings.HasPrefix(c.Name, "__") != row.secure {
					t.Errorf("%s, Secure %v", c.Name, c.Secure)
				}
			}
			r.Target = "/auth/providers"
			if got := string(a.Handle(t.Context(), r).Body); !strings.Contains(got, `"`+row.host+`/auth/`) {
				t.Errorf("providers are at %s", got)
			}
		})
	}
}

// TestExpiryToTheSecond reads a session around its end (ATTACKS SE3). The browser that keeps its cookie for ever makes no difference.
func TestExpiryToTheSecond(t *testing.T) {
	t.Parallel()
	const tolerance = 15 * time.Second // of clocks, as the reference has it
	for _, row := range []struct {
		after time.Duration
		alive bool
	}{{time.Hour - time.Second, true}, {time.Hour + tolerance - time.Second, true}, {time.Hour + tolerance, false}, {1000 * time.Hour, false}} {
		a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Session: core.SessionConfig{MaxAge: time.Hour}})
		b := visit(t, a)
		signIn(t, b)
		a.clock.Advance(row.after)
		if got := string(b.get("/auth/session").Body) != "null"; got != row.alive {
			t.Errorf("after %v: alive %v", row.after, got)
		}
		if held := b.cookies[sessionCookie] != ""; held != row.alive {
			t.Errorf("after %v: the cookie is kept: %v", row.after, held)
		}
	}
}
