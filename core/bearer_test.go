package core_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

func bearers(c *core.Config) { c.Session.Bearer = true }

// client returns a client without cookies that sends the session of b as a bearer token.
func client(t *testing.T, a handler, b *browser) *browser {
	t.Helper()
	c := visit(t, a)
	c.header.Set("Authorization", "Bearer "+b.cookies[sessionCookie])
	return c
}

// TestBearer reads the session in the header with each method that reads a session, and sets no cookie.
func TestBearer(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			a, _ := factual(t, strategy, bearers, revocable)
			b := signedIn(t, a, "1")
			other := signedIn(t, a, "2")
			c := client(t, a, b)
			c.cookies = other.cookies // the header takes precedence
			v := a.Visit(t.Context(), c.request("GET", "/page", "", ""))
			session, err := v.Session()
			h := answerOf(v)
			if err != nil || session == nil || session.UserID != "1" || session.ID != b.session().ID {
				t.Fatalf("the hook has %+v, %v", session, err)
			}
			if h.Get("Set-Cookie") != "" || h.Get("Cache-Control") != "private" ||
				!strings.Contains(strings.Join(h["Vary"], ", "), "Authorization") {
				t.Errorf("the page has %v", h)
			}
			session, refusal := a.Visit(t.Context(), c.request("POST", "/api", "", "")).Require(core.RecentSignIn(time.Hour))
			if refusal != nil || session.UserID != "1" {
				t.Errorf("the guard refuses with %+v", refusal)
			}
			token, err := a.Token(t.Context(), c.request("GET", "/", "", ""))
			if strategy == core.StrategyJWT && (err != nil || token == nil || token.Subject != "1") {
				t.Errorf("Token has %+v, %v", token, err)
			}
			r := c.get("/auth/session")
			if !strings.Contains(string(r.Body), "1") || len(r.Cookies) > 0 || r.Header.Get("Vary") != "Authorization" ||
				r.Header.Get("Www-Authenticate") != "" {
				t.Errorf("GET session: %s, header %v, cookies %v", r.Body, r.Header, r.Cookies)
			}
			c.header.Set("Accept", "text/html") // a program is never redirected to a page
			if r := c.post("/auth/signout", nil); r.Err != nil || len(r.Cookies) > 0 {
				t.Errorf("sign-out without a CSRF token: %d, %v, cookies %v", r.Status, r.Err, r.Cookies)
			}
			if b.session() != nil || other.session() == nil {
				t.Error("the header's session is still valid, or the cookie's session has ended")
			}
			checkInvalid(t, a, c, 401, "invalid_token")
		})
	}
}

// checkInvalid sends an invalid token. No user may be signed in, not even by a cookie, and the response must say why.
func checkInvalid(t *testing.T, a *app, c *browser, status int, code string) {
	t.Helper()
	want := `Bearer realm="https://app.test", error="` + code + `"`
	_, refusal := a.Visit(t.Context(), c.request("GET", "/api", "", "")).Require()
	if refusal == nil || refusal.Status != status || refusal.Header.Get("Www-Authenticate") != want ||
		refusal.Header.Get("Location") != "" || !strings.Contains(string(refusal.Body), code) ||
		!strings.Contains(refusal.Header.Get("Vary"), "Authorization") || len(refusal.Cookies) > 0 {
		t.Errorf("the guard refuses with %+v", refusal)
	}
	r := c.get("/auth/session")
	if string(r.Body) != "null" || r.Status != 200 || r.Header.Get("Www-Authenticate") != want || len(r.Cookies) > 0 {
		t.Errorf("GET session: status %d, %s, header %v, cookies %v", r.Status, r.Body, r.Header, r.Cookies)
	}
	v := a.Visit(t.Context(), c.request("GET", "/page", "", ""))
	if s, err := v.Session(); s != nil || err != nil || answerOf(v).Get("Set-Cookie") != "" {
		t.Errorf("the hook has %+v, %v", s, err)
	}
	if token, err := a.Token(t.Context(), c.request("GET", "/", "", "")); token != nil || err != nil {
		t.Errorf("Token has %+v, %v", token, err)
	}
}

// TestInvalidBearer sends an invalid token together with the cookie of a valid session, which must not count.
func TestInvalidBearer(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		a, _ := factual(t, strategy, bearers, revocable)
		b := signedIn(t, a, "1")
		good, old := b.cookies[sessionCookie], signedIn(t, a, "2").cookies[sessionCookie]
		for name, row := range map[string]struct {
			lines  []string
			status int
			code   string
		}{
			"unknown":                {[]string{"Bearer nobodys"}, 401, "invalid_token"},
			"altered":                {[]string{"Bearer " + good[:len(good)-6] + "AAAAAA"}, 401, "invalid_token"},
			"one byte more":          {[]string{"Bearer " + good + "a"}, 401, "invalid_token"},
			"two headers":            {[]string{"Bearer " + good, "Bearer " + good}, 400, "invalid_request"},
			"a password and a token": {[]string{"Basic YTpi", "Bearer " + good}, 400, "invalid_request"},
			"no token":               {[]string{"Bearer"}, 400, "invalid_request"},
			"a space":                {[]string{"Bearer "}, 400, "invalid_request"},
			"two in one header":      {[]string{"Bearer " + good + ", Bearer " + good}, 400, "invalid_request"},
			"a tab":                  {[]string{"Bearer\t" + good}, 400, "invalid_request"},
			"invalid escapes":        {[]string{"Bearer %zz"}, 400, "invalid_request"},
			"a quoted token":         {[]string{`Bearer "` + good + `"`}, 400, "invalid_request"},
			"parameters":             {[]string{"Bearer token=" + good + " x"}, 400, "invalid_request"},
			"a trailing space":       {[]string{"Bearer " + good + " "}, 400, "invalid_request"},
			"as long as a header":    {[]string{"Bearer " + strings.Repeat("a", 200<<10)}, 400, "invalid_request"},
			"a cookie of its name":   {[]string{"Bearer " + sessionCookie + "=" + old}, 401, "invalid_token"},
		} {
			t.Run(string(strategy)+", "+name, func(t *testing.T) {
				c := client(t, a, b)
				c.header["Authorization"] = row.lines
				c.cookies = map[string]string{sessionCookie: good}
				c.header.Set("Accept", "text/html")
				checkInvalid(t, a, c, row.status, row.code)
				if r := c.post("/auth/signout", nil); len(r.Cookies) > 0 {
					t.Errorf("sign-out sets %v", r.Cookies)
				}
				if b.session() == nil {
					t.Error("the cookie's session has ended")
				}
			})
		}
		for name, line := range map[string]string{
			"lower case": "bearer " + good, "two blanks": "BEARER  " + good,
			"percent-encoded": "Bearer " + strings.ReplaceAll(good, ".", "%2E"),
		} {
			t.Run(string(strategy)+", good, "+name, func(t *testing.T) {
				c := visit(t, a)
				c.header.Set("Authorization", line)
				if s := c.session(); s == nil || s.UserID != "1" {
					t.Errorf("the hook has %+v", s)
				}
				token, err := a.Token(t.Context(), c.request("GET", "/", "", ""))
				if strategy == core.StrategyJWT && (err != nil || token == nil || token.Subject != "1") {
					t.Errorf("Token has %+v, %v", token, err)
				}
			})
		}
	}
}

// TestBearerSwitchedOff: the header is ignored, and the cookie counts.
func TestBearerSwitchedOff(t *testing.T) {
	t.Parallel()
	a, _ := factual(t, core.StrategyJWT, func(c *core.Config) { c.Session.UpdateAge = core.UpdateAlways })
	b, other := signedIn(t, a, "1"), signedIn(t, a, "2")
	c := client(t, a, b)
	if c.session() != nil || string(c.get("/auth/session").Body) != "null" {
		t.Error("the header is accepted")
	}
	c = client(t, a, b)
	c.cookies = other.cookies
	if s := c.session(); s == nil || s.UserID != "2" {
		t.Errorf("the session is %+v", s)
	}
	if r := c.post("/auth/signout", nil); r.Err == nil {
		t.Error("the header replaces the CSRF token")
	}
	if r := c.get("/auth/session"); r.Header.Get("Vary") != "" || len(r.Cookies) == 0 {
		t.Errorf("GET session has %v and %d cookies", r.Header, len(r.Cookies))
	}
}

// TestBearerWithPassword: a header with another scheme is ignored, for example the password of a proxy, or a scheme
// whose name starts with Bearer. The cookie counts, including its CSRF check.
func TestBearerWithPassword(t *testing.T) {
	t.Parallel()
	a, _ := factual(t, core.StrategyJWT, bearers)
	for _, line := range []string{"Basic YTpi", "Bearers a", "Bearer-a", "BearerYTpi"} {
		b := signedIn(t, a, "1")
		b.header.Set("Authorization", line)
		if b.session() == nil {
			t.Errorf("%s: the cookie is ignored", line)
		}
		if r := b.post("/auth/signout", nil); r.Err == nil {
			t.Errorf("%s replaces the CSRF token", line)
		}
		if r := b.submit("/auth/signout", nil); r.Err != nil || b.cookies[sessionCookie] != "" {
			t.Errorf("%s: sign-out: %v", line, r.Err)
		}
	}
}

// TestBearerRenewed sends GET session. The response has the new token: a renewed one under StrategyJWT, and the same
// one with a later expiry under StrategyDatabase.
func TestBearerRenewed(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			a, _ := factual(t, strategy, bearers)
			b := signedIn(t, a, "1")
			c := client(t, a, b)
			a.clock.Advance(20 * 24 * time.Hour)
			r := c.get("/auth/session")
			next := r.Header.Get("Set-Auth-Token")
			if (next != "") != (strategy == core.StrategyJWT) || next == b.cookies[sessionCookie] {
				t.Fatalf("the renewed token is %q", next)
			}
			if next != "" {
				c.header.Set("Authorization", "Bearer "+next)
			}
			a.clock.Advance(20 * 24 * time.Hour)
			if s := c.session(); s == nil || s.UserID != "1" {
				t.Errorf("after 40 days: %+v", s)
			}
			if r := b.get("/auth/session"); r.Header.Get("Set-Auth-Token") != "" {
				t.Error("a page's script receives the token of a cookie")
			}
		})
	}
}

// TestBearerCannotSignIn: sign-ins need cookies and refuse a bearer token, and NewSession returns cookies.
func TestBearerCannotSignIn(t *testing.T) {
	t.Parallel()
	a, _ := factual(t, core.StrategyJWT, bearers)
	b := signedIn(t, a, "1")
	c := client(t, a, b)
	c.cookies = b.cookies
	token, _, _ := strings.Cut(b.cookies["__Host-authjs.csrf-token"], "|")
	for _, path := range []string{"signin/credentials", "callback/credentials"} {
		r := c.post("/auth/"+path, url.Values{"csrfToken": {token}, "id": {"2"}})
		if r.Status != http.StatusBadRequest || len(r.Cookies) > 0 {
			t.Errorf("%s: status %d, cookies %v", path, r.Status, r.Cookies)
		}
	}
	cookies, err := a.NewSession(t.Context(), c.request("POST", "/signup", "", ""), &core.User{ID: "2", Name: "2"})
	if err != nil || len(cookies) == 0 {
		t.Errorf("NewSession sets %v, %v", cookies, err)
	}
	if r := c.post("/auth/session", url.Values{"data": {"{}"}}); r.Err != nil || !strings.Contains(string(r.Body), "1") ||
		r.Header.Get("Set-Auth-Token") == "" || len(r.Cookies) > 0 {
		t.Errorf("POST session: %s, %v, %v", r.Body, r.Err, r.Header)
	}
}

// TestBearerCannotSignInAtPlugins: sign-ins of plugins and pending sign-ins refuse a bearer token as well, and such a
// request does not use up a pending sign-in.
func TestBearerCannotSignInAtPlugins(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			gated := &toyFactor{name: "toyfactor"}
			a, h := factual(t, strategy, bearers, func(c *core.Config) {
				c.Plugins = []core.Plugin{gated, partFunc(func(h *core.PluginHost) error {
					h.AddAction(core.Action{Method: "POST", Name: "come-in",
						Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
							return c.SignIn(ctx, core.SignIn{User: &core.User{ID: "2", Name: "2"}})
						}})
					return nil
				})}
			})
			b := signedIn(t, a, "1")
			code := url.Values{"code": {"123456"}}
			b.submit("/auth/toyfactor", code)
			if b.cookies[sessionCookie] == "" {
				t.Fatal("not signed in")
			}
			c := client(t, a, b)
			c.cookies = map[string]string{"__Host-authjs.csrf-token": b.cookies["__Host-authjs.csrf-token"]}
			before := len(h.people.sessions)
			refused := func(path string, fields url.Values) {
				t.Helper()
				if r := c.submit(path, fields); r.Status != http.StatusBadRequest || r.Header.Get("Set-Auth-Token") != "" {
					t.Errorf("%s: status %d, %s, header %v", path, r.Status, r.Body, r.Header)
				}
			}
			refused("/auth/come-in", nil)
			authorization := c.header.Get("Authorization")
			c.header.Del("Authorization")
			c.submit("/auth/come-in", nil) // the gate makes it a pending sign-in
			c.header.Set("Authorization", authorization)
			refused("/auth/toyfactor", code)
			if n := len(h.people.sessions); n != before {
				t.Errorf("%d sessions, want %d", n, before)
			}
			c.header.Del("Authorization")
			if c.submit("/auth/toyfactor", code); c.session() == nil || c.session().UserID != "2" {
				t.Error("the sign-in cannot be completed without the header")
			}
		})
	}
}
