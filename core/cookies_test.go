package core_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestSessionGrowsAndShrinks re-issues a session of other sizes (ATTACKS CK2 and CK3). What the browser holds afterwards is the
// session and nothing stale.
func TestSessionGrowsAndShrinks(t *testing.T) {
	size := 0
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
		JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			return p.Token, p.Token.Extra.Set("pad", strings.Repeat("x", size))
		},
	}})
	b := visit(t, a)
	signIn(t, b)
	for _, row := range []struct{ size, cookies int }{{0, 1}, {4000, 2}, {0, 1}, {33000, 12}, {4000, 2}, {33000, 12}, {0, 1}} {
		size = row.size
		r := b.get("/auth/session")
		names := map[string]bool{}
		for _, c := range r.Cookies {
			if line := c.String(); len(line) > 4096 || names[c.Name] {
				t.Errorf("size %d: %s has %d bytes, set before: %v", row.size, c.Name, len(line), names[c.Name])
			}
			names[c.Name] = true
		}
		held := 0
		for name := range b.cookies {
			if strings.HasPrefix(name, sessionCookie) {
				held++
			}
		}
		if held != row.cookies || !strings.Contains(string(b.get("/auth/session").Body), "Ada") {
			t.Errorf("size %d: the browser holds %d cookies, want %d", row.size, held, row.cookies)
		}
	}
	size = 60000 // more than the chunks may hold
	other := visit(t, a)
	r := other.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	for _, c := range r.Cookies {
		if strings.HasPrefix(c.Name, sessionCookie) && c.Value != "" {
			t.Errorf("half a session is set: %s", c.Name)
		}
	}
	if !strings.Contains(r.Redirect, "error=Configuration") || !strings.Contains(a.log.String(), "keep less in") {
		t.Errorf("too large: %q; log: %.300s", r.Redirect, a.log.String())
	}
}

// TestCookieAttributes looks at every cookie of the flows (ATTACKS CK4).
func TestCookieAttributes(t *testing.T) {
	a := newApp(t, core.Config{Providers: []core.Provider{passwords(), (&service{}).provider("op", core.CheckState, core.CheckPKCE, core.CheckNonce)}})
	b := visit(t, a)
	seen := map[string]bool{}
	look := func(r *core.Response) {
		t.Helper()
		for _, c := range r.Cookies {
			seen[c.Name] = true
			host := strings.HasPrefix(c.Name, "__Host-")
			if !c.HTTPOnly || !c.Secure || c.SameSite != "Lax" || c.Path != "/" || c.Domain != "" || !host && !strings.HasPrefix(c.Name, "__Secure-") {
				t.Errorf("%s", strings.ReplaceAll(c.String(), c.Value, "…"))
			}
		}
	}
	look(b.get("/auth/csrf"))
	look(b.submit("/auth/signin/op", nil))
	look(b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}}))
	look(b.get("/auth/session"))
	look(b.get("/auth/callback/op?state=x&code=y"))
	look(b.submit("/auth/signout", nil))
	for _, name := range []string{"__Host-authjs.csrf-token", "__Secure-authjs.callback-url", sessionCookie, "__Secure-authjs.state", "__Secure-authjs.pkce.code_verifier", "__Secure-authjs.nonce"} {
		if !seen[name] {
			t.Errorf("%s was never set", name)
		}
	}
}

// TestCookieConfiguration configures cookies that browsers drop or that get into each other's way (ATTACKS CK5).
func TestCookieConfiguration(t *testing.T) {
	for name, cookies := range map[string]core.CookiesConfig{
		"Domain with __Host-":   {SessionToken: core.CookieOptions{Name: "__Host-session", Domain: "app.test"}},
		"Path with __Host-":     {SessionToken: core.CookieOptions{Name: "__Host-session", Path: "/x"}},
		"None without Secure":   {SessionToken: core.CookieOptions{SameSite: "none", Secure: core.Off}},
		"prefix without Secure": {SessionToken: core.CookieOptions{Name: "__Secure-session", Secure: core.Off}},
		"one name twice":        {SessionToken: core.CookieOptions{Name: "__Secure-x"}, State: core.CookieOptions{Name: "__Secure-x"}},
		"a chunk's name":        {SessionToken: core.CookieOptions{Name: "__Secure-x"}, State: core.CookieOptions{Name: "__Secure-x.0"}},
		"blank in a name":       {SessionToken: core.CookieOptions{Name: "my session"}},
		"unknown SameSite":      {SessionToken: core.CookieOptions{SameSite: "sometimes"}},
		"line break in a path":  {CallbackURL: core.CookieOptions{Path: "/\r\nx"}},
		"salt of another seal":  {SessionToken: core.CookieOptions{Name: "encodedState"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := core.New(core.Config{
				Secrets: []core.Secret{testSecret}, URL: "https://app.test", Cookies: cookies, Getenv: func(string) string { return "" }, Now: func() time.Time { return start },
			})
			if !errors.Is(err, core.InvalidConfig) {
				t.Errorf("got %v", err)
			}
		})
	}
}
