package core_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestSessionGrowsAndShrinks renews a session with other sizes. Afterwards the browser has the session and no leftover
// chunk.
func TestSessionGrowsAndShrinks(t *testing.T) {
	t.Parallel()
	size := 0
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
		JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			return p.Token, p.Token.Extra.Set("pad", strings.Repeat("x", size))
		},
	}})
	b := visit(t, a)
	signIn(t, b)
	for _, row := range []struct{ size, cookies int }{
		{0, 1}, {4000, 2}, {0, 1}, {33000, 12}, {4000, 2}, {33000, 12}, {0, 1},
	} {
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
			t.Errorf("size %d: the browser has %d cookies, want %d", row.size, held, row.cookies)
		}
	}
	size = 60000 // more than fits into all chunks
	other := visit(t, a)
	r := other.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	for _, c := range r.Cookies {
		if strings.HasPrefix(c.Name, sessionCookie) && c.Value != "" {
			t.Errorf("an incomplete session is set: %s", c.Name)
		}
	}
	if !strings.Contains(r.Redirect, "error=Configuration") ||
		!strings.Contains(a.log.String(), "return a smaller token") {
		t.Errorf("too large: %q; log: %.300s", r.Redirect, a.log.String())
	}
}

// TestCookieAttributes checks every cookie of the flows.
func TestCookieAttributes(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{
		passwords(), (&service{}).provider("op", core.CheckState, core.CheckPKCE, core.CheckNonce),
	}})
	b := visit(t, a)
	seen := map[string]bool{}
	look := func(r *core.Response) {
		t.Helper()
		for _, c := range r.Cookies {
			seen[c.Name] = true
			host := strings.HasPrefix(c.Name, "__Host-")
			if !c.HTTPOnly || !c.Secure || c.SameSite != "Lax" || c.Path != "/" || c.Domain != "" ||
				!host && !strings.HasPrefix(c.Name, "__Secure-") {
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
	for _, name := range []string{
		"__Host-authjs.csrf-token", "__Secure-authjs.callback-url", sessionCookie, "__Secure-authjs.state",
		"__Secure-authjs.pkce.code_verifier", "__Secure-authjs.nonce",
	} {
		if !seen[name] {
			t.Errorf("%s was never set", name)
		}
	}
}

// TestCookieAttributesElsewhere checks the flows with other attributes: plain http, form_post callbacks, sessions in
// chunks and in a store, and cookies that are cleared. A cookie is cleared with the same attributes, because browsers
// match them.
func TestCookieAttributesElsewhere(t *testing.T) {
	t.Parallel()
	post := (&service{}).provider("post", core.CheckState, core.CheckPKCE, core.CheckNonce)
	post.Authorization.Params = url.Values{"response_mode": {"form_post"}}
	size := 0
	op := (&service{}).provider("op", core.CheckState, core.CheckPKCE, core.CheckNonce)
	config := core.Config{Providers: []core.Provider{passwords(), post, op}, Callbacks: core.Callbacks{
		JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			return p.Token, p.Token.Extra.Set("pad", strings.Repeat("x", size))
		},
	}}
	for _, row := range []struct {
		name, origin string
		secure       bool
		store        core.Store
	}{
		{"http", "http://app.test", false, nil},
		{"https", "https://app.test", true, nil},
		{"store", "https://app.test", true, newSessionRows()},
	} {
		t.Run(row.name, func(t *testing.T) {
			config.URL, config.Store, size = row.origin, row.store, 9000
			if row.store != nil {
				config.Session.Strategy = core.StrategyDatabase // the callback is for the other rows
			}
			a := newApp(t, config)
			b := visit(t, a)
			b.origin = row.origin
			set, cleared := map[string]core.Cookie{}, 0
			flow := func(r *core.Response, sameSite string) {
				t.Helper()
				for _, c := range r.Cookies {
					check := strings.Contains(c.Name, "state") || strings.Contains(c.Name, "pkce") || strings.Contains(c.Name, "nonce")
					want := core.Cookie{Name: c.Name, Path: "/", HTTPOnly: true, Secure: row.secure, SameSite: "Lax"}
					if check && sameSite == "None" {
						want.SameSite, want.Secure = "None", true
					}
					got := core.Cookie{
						Name: c.Name, Path: c.Path, Domain: c.Domain, HTTPOnly: c.HTTPOnly, Secure: c.Secure, SameSite: c.SameSite,
						Partitioned: c.Partitioned, Priority: c.Priority,
					}
					if c.HasMaxAge && c.MaxAge == 0 {
						cleared++
						before, there := set[c.Name]
						if !there || before.Path != c.Path || before.Domain != c.Domain ||
							before.Secure != c.Secure && sameSite != "None" || c.Value != "" {
							t.Errorf("%s is cleared with other attributes than it was set with: %s", c.Name, c)
						}
						want.SameSite, want.Secure = c.SameSite, c.Secure
					} else {
						set[c.Name] = c
					}
					if got != want {
						t.Errorf("%+v, want %+v", got, want)
					}
					if strings.HasPrefix(c.Name, "__Host-") != (row.secure && strings.Contains(c.Name, "csrf")) ||
						strings.HasPrefix(c.Name, "__Secure-") != (row.secure && !strings.Contains(c.Name, "csrf")) {
						t.Errorf("wrong prefix: %s", c.Name)
					}
				}
			}
			flow(b.get("/auth/csrf"), "Lax")
			started := b.submit("/auth/signin/op", nil)
			flow(started, "Lax")
			flow(b.submit("/auth/signin/op", nil), "Lax") // in another tab
			flow(b.get("/auth/callback/op?state=x&code=y"), "Lax")
			flow(b.get("/auth/callback/op?code=y&state="+stateOf(started)), "Lax")
			started = b.submit("/auth/signin/post", nil)
			flow(started, "None")
			posted := b.post("/auth/callback/post", url.Values{"code": {"y"}, "state": {stateOf(started)}})
			flow(posted, "Lax")
			flow(b.get(strings.TrimPrefix(posted.Redirect, b.origin)), "None")
			flow(b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}}), "Lax")
			flow(b.get("/auth/session"), "Lax")
			size = 0
			flow(b.get("/auth/session"), "Lax")
			flow(b.submit("/auth/signout", nil), "Lax")
			if want := 3; len(set) < 6 || cleared < want {
				t.Errorf("%d cookies set, %d cleared", len(set), cleared)
			}
		})
	}
}

// TestCookieConfiguration configures cookies that browsers would drop, or that conflict with each other.
func TestCookieConfiguration(t *testing.T) {
	t.Parallel()
	for name, cookies := range map[string]core.CookiesConfig{
		"Domain with __Host-":    {SessionToken: core.CookieOptions{Name: "__Host-session", Domain: "app.test"}},
		"Domain for our __Host-": {CSRFToken: core.CookieOptions{Domain: "app.test"}},
		"Path for our __Host-":   {CSRFToken: core.CookieOptions{Path: "/auth"}},
		"Path with __Host-":      {SessionToken: core.CookieOptions{Name: "__Host-session", Path: "/x"}},
		"None without Secure":    {SessionToken: core.CookieOptions{SameSite: "none", Secure: core.False}},
		"prefix without Secure":  {SessionToken: core.CookieOptions{Name: "__Secure-session", Secure: core.False}},
		"None, unsaid":           {SessionToken: core.CookieOptions{SameSite: "None", Secure: core.False}},
		"a separator in a name":  {CSRFToken: core.CookieOptions{Name: "a;b"}},
		"one name twice": {
			SessionToken: core.CookieOptions{Name: "__Secure-x"}, State: core.CookieOptions{Name: "__Secure-x"},
		},
		"a chunk's name": {
			SessionToken: core.CookieOptions{Name: "__Secure-x"}, State: core.CookieOptions{Name: "__Secure-x.0"},
		},
		"blank in a name":      {SessionToken: core.CookieOptions{Name: "my session"}},
		"unknown SameSite":     {SessionToken: core.CookieOptions{SameSite: "sometimes"}},
		"line break in a path": {CallbackURL: core.CookieOptions{Path: "/\r\nx"}},
		"salt of another seal": {SessionToken: core.CookieOptions{Name: "encodedState"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := core.New(core.Config{
				Secrets: []core.Secret{testSecret}, URL: "https://app.test", Cookies: cookies,
				Getenv: func(string) string { return "" }, Now: func() time.Time { return start },
			})
			if !errors.Is(err, core.ErrInvalidConfig) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestCookieHeaders sends session cookies whole, in chunks, next to unrelated cookies, and malformed.
func TestCookieHeaders(t *testing.T) {
	t.Parallel()
	type payload struct {
		ID, Want, Why, Strategy, Origin string
		Cookie                          any
		Cleared, Untouched              []string
		Gen                             *struct {
			Chunks, Repeat, Others int
			Name, Value, Then      string
		}
	}
	for _, p := range payloads[payload](t, "cookies.json") {
		t.Run(p.ID, func(t *testing.T) {
			config := core.Config{Providers: []core.Provider{passwords()}}
			if p.Strategy == "database" {
				config.Store = brokenStore{func() error { return core.ErrNotFound }}
				config.Providers = nil
			}
			a := newApp(t, config)
			token, err := a.EncodeToken(&core.Token{Subject: "1", Name: "Ada"}, sessionCookie, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			half := len(token) / 2
			fill := strings.NewReplacer("{TOK}", token, "{T0}", token[:half], "{T1}", token[half:],
				"{STATE_COOKIE}", token[:half], "{CALLBACK_URL_COOKIE}", "__Secure-authjs.callback-url")
			name := func(s string) string {
				for _, before := range []string{"", "; ", ";", "="} {
					s = strings.ReplaceAll(" "+s, before+" N", before+" "+sessionCookie)
					s = strings.TrimPrefix(s, " ")
				}
				return strings.ReplaceAll(s, "=N=", "="+sessionCookie+"=")
			}
			var lines []string
			switch c := p.Cookie.(type) {
			case string:
				lines = []string{fill.Replace(name(c))}
			case []any:
				for _, line := range c {
					lines = append(lines, fill.Replace(name(line.(string))))
				}
			}
			if g := p.Gen; g != nil {
				var pairs []string
				for i := range g.Others {
					pairs = append(pairs, fmt.Sprintf("other%d=x", i))
				}
				if g.Then != "" {
					pairs = append(pairs, fill.Replace(name(g.Then)))
				}
				for i := range g.Chunks {
					at, to := i*len(token)/g.Chunks, (i+1)*len(token)/g.Chunks
					pairs = append(pairs, fmt.Sprintf("%s.%d=%s", sessionCookie, i, token[at:to]))
				}
				if g.Chunks > 0 {
					rand.New(rand.NewPCG(1, 2)).Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
				}
				if g.Repeat > 0 {
					pairs = append(pairs, sessionCookie+"="+strings.Repeat(g.Value, g.Repeat))
				}
				lines = []string{strings.Join(pairs, "; ")}
			}
			b := visit(t, a)
			r := b.request("GET", "/auth/session", "", "")
			r.Header["Cookie"] = lines
			response := a.Handle(t.Context(), r)
			got := "session"
			if string(response.Body) == "null" {
				got = "none"
			}
			if response.Status >= 500 || (p.Want == "session" || p.Want == "none") && got != p.Want {
				t.Errorf("%s: status %d: %s, want %s", p.Why, response.Status, response.Body, p.Want)
			}
			for _, c := range response.Cookies {
				for _, untouched := range p.Untouched {
					if c.Name == strings.Replace(untouched, "N", sessionCookie, 1) {
						t.Errorf("%s: %s is cleared", p.Why, c.Name)
					}
				}
			}
		})
	}
}

// stateOf returns the state parameter of an authorization request.
func stateOf(r *core.Response) string {
	_, state, _ := strings.Cut(r.Redirect, "state=")
	state, _, _ = strings.Cut(state, "&")
	return state
}
