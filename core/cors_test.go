package core_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

const frontEnd = "https://front.example"

// trusting returns an Auth that trusts the front end and one on a developer's machine.
func trusting(t *testing.T, change ...func(*core.Config)) *app {
	t.Helper()
	c := core.Config{
		Providers: []core.Provider{passwords(), plainOAuth()}, TrustedOrigins: []string{frontEnd, "http://localhost:5173"},
	}
	for _, f := range change {
		f(&c)
	}
	return newApp(t, c)
}

// cors returns the headers that allow a script to read a response.
func cors(h http.Header) string {
	return h.Get("Access-Control-Allow-Origin") + h.Get("Access-Control-Allow-Credentials") +
		h.Get("Access-Control-Expose-Headers") + h.Get("Access-Control-Allow-Headers")
}

// untrustedOrigins are origins that resemble the trusted one.
var untrustedOrigins = map[string][]string{
	"another":          {"https://evil.example"},
	"null":             {"null"},
	"empty":            {""},
	"a star":           {"*"},
	"a subdomain":      {"https://a.front.example"},
	"a suffix":         {"https://front.example.evil.example"},
	"a prefix":         {"https://evilfront.example"},
	"its domain":       {"https://example"},
	"another port":     {"https://front.example:8443"},
	"the default port": {"https://front.example:443"},
	"no port":          {"http://localhost"},
	"another scheme":   {"http://front.example"},
	"upper case":       {"https://FRONT.example"},
	"a scheme in caps": {"HTTPS://front.example"},
	"a trailing dot":   {"https://front.example."},
	"a trailing slash": {"https://front.example/"},
	"a path":           {"https://front.example/x"},
	"credentials":      {"https://front.example@evil.example"},
	"a user":           {"https://user@front.example"},
	"punycode":         {"https://xn--frnt-ppa.example"},
	"a look-alike":     {"https://frоnt.example"},
	"a blank":          {" https://front.example"},
	"two in one":       {"https://front.example, https://evil.example"},
	"a list":           {"https://front.example https://evil.example"},
	"two headers":      {frontEnd, frontEnd},
	"two, the other":   {frontEnd, "https://evil.example"},
	"NUL":              {"https://front.example\x00.evil.example"},
	"a bracket":        {"https://[front.example]"},
	"an address":       {"https://127.0.0.1"},
}

// TestOtherOriginsReadNothing sends requests from untrusted origins. No header allows them to read a response, and no
// preflight succeeds. Their POST requests are rejected under every policy, even with the token of the cookie if the
// browser reports a cross-site request.
func TestOtherOriginsReadNothing(t *testing.T) {
	t.Parallel()
	for name, origin := range untrustedOrigins {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := visit(t, trusting(t))
			token := b.csrf()
			b.header["Origin"] = origin
			r := b.get("/auth/session")
			if got := cors(r.Header); got != "" || r.Header.Get("Vary") != "Origin" {
				t.Errorf("GET session lets it read: %v", r.Header)
			}
			b.header.Set("Access-Control-Request-Method", "POST")
			if r = b.send("OPTIONS", "/auth/session", "", ""); cors(r.Header) != "" || r.Status != http.StatusBadRequest {
				t.Errorf("a preflight: %d, %v", r.Status, r.Header)
			}
			b.header.Set("Sec-Fetch-Site", "cross-site")
			if r = b.post("/auth/signout", url.Values{"csrfToken": {token}}); r.Err == nil || cors(r.Header) != "" {
				t.Errorf("a post: %d, %v", r.Status, r.Header)
			}
			for _, policy := range []core.CSRFPolicy{core.CSRFTokenOrSameOrigin(), core.InsecureSkipCSRFCheck()} {
				a := trusting(t, func(c *core.Config) { c.CSRF = policy })
				b := visit(t, a)
				b.header["Origin"] = origin
				b.header.Set("Sec-Fetch-Site", "cross-site")
				if r = b.post("/auth/signout", nil); r.Err == nil {
					t.Errorf("a post under %+v: %d", policy, r.Status)
				}
			}
		})
	}
}

// TestTrustedOrigin signs in from a front end on another site with SameSite=None cookies, step by step as its scripts
// do.
func TestTrustedOrigin(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{frontEnd, "http://localhost:5173"} {
		b := visit(t, trusting(t))
		b.header.Set("Origin", origin)
		b.header.Set("Sec-Fetch-Site", "cross-site")
		b.header.Set("Accept", "application/json")
		allowed := func(what string, r *core.Response) {
			t.Helper()
			if r.Header.Get("Access-Control-Allow-Origin") != origin ||
				r.Header.Get("Access-Control-Allow-Credentials") != "true" || r.Header.Get("Vary") == "" ||
				!strings.Contains(r.Header.Get("Vary"), "Origin") {
				t.Errorf("%s: %v", what, r.Header)
			}
		}
		b.header.Set("Access-Control-Request-Method", "POST")
		r := b.send("OPTIONS", "/auth/callback/credentials", "", "")
		allowed("preflight", r)
		h := r.Header
		if r.Status != 204 || len(r.Body) > 0 || len(r.Cookies) > 0 || h.Get("Access-Control-Allow-Methods") != "GET, POST" ||
			!strings.Contains(h.Get("Access-Control-Allow-Headers"), "Authorization") ||
			h.Get("Access-Control-Max-Age") != "7200" {
			t.Errorf("a preflight: %d, %v", r.Status, h)
		}
		b.header.Del("Access-Control-Request-Method")
		allowed("OPTIONS that is no preflight", &core.Response{Header: b.send("OPTIONS", "/auth/session", "", "").Header})

		fields := url.Values{"email": {"ada@example.com"}, "password": {"x"}}
		r = b.submit("/auth/callback/credentials", fields)
		allowed("a wrong password", r)
		if r.Status != 401 || !strings.Contains(r.Header.Get("Access-Control-Expose-Headers"), "Retry-After") {
			t.Errorf("a wrong password: %d, %v", r.Status, r.Header)
		}
		if r = b.post("/auth/signout", nil); r.Status != 403 {
			t.Errorf("a post without the token: %d", r.Status)
		}
		fields.Set("password", "engine")
		fields.Set("callbackUrl", origin+"/in")
		r = b.submit("/auth/callback/credentials", fields)
		allowed("a sign-in", r)
		if r.Status != 200 || string(r.Body) != `{"url":"https://app.test"}` || b.cookies[sessionCookie] == "" {
			t.Errorf("a sign-in: %d %s", r.Status, r.Body)
		}
		allowed("the session", b.get("/auth/session"))
		allowed("an unknown action", b.get("/auth/nope"))
	}
}

// TestTrustedOriginOfACallbackURL checks that the Redirect callback can allow a redirect to a trusted origin.
func TestTrustedOriginOfACallbackURL(t *testing.T) {
	t.Parallel()
	a := trusting(t, func(c *core.Config) {
		c.Callbacks.Redirect = func(ctx context.Context, p core.RedirectParams) (string, error) {
			if p.URL == frontEnd+"/in" {
				return p.URL, nil
			}
			return core.SameOrigin(ctx, p)
		}
	})
	b := visit(t, a)
	if r := b.submit("/auth/signout", url.Values{"callbackUrl": {frontEnd + "/in"}}); r.Redirect != frontEnd+"/in" {
		t.Errorf("redirects to %s", r.Redirect)
	}
}

// TestTrustedOriginByPolicy checks that under a policy that trusts the browser's headers, the headers of a trusted
// origin are accepted.
func TestTrustedOriginByPolicy(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		policy core.CSRFPolicy
		passes bool
	}{
		"a token":             {core.CSRFPolicy{}, false},
		"a token or its word": {core.CSRFTokenOrSameOrigin(), true},
		"its word":            {core.InsecureSkipCSRFCheck(), true},
	} {
		b := visit(t, trusting(t, func(c *core.Config) { c.CSRF = row.policy }))
		b.header.Set("Origin", frontEnd)
		b.header.Set("Sec-Fetch-Site", "cross-site")
		if r := b.post("/auth/signout", nil); (r.Err == nil) != row.passes {
			t.Errorf("%s: %d, %v", name, r.Status, r.Err)
		}
	}
}

// TestNoTrustedOrigins checks that responses have no CORS headers if there are no trusted origins.
func TestNoTrustedOrigins(t *testing.T) {
	t.Parallel()
	b := visit(t, newApp(t, core.Config{Providers: []core.Provider{passwords()}}))
	b.header.Set("Origin", frontEnd)
	b.header.Set("Access-Control-Request-Method", "POST")
	for _, method := range []string{"GET", "OPTIONS"} {
		if r := b.send(method, "/auth/session", "", ""); cors(r.Header) != "" || r.Header.Get("Vary") != "" {
			t.Errorf("%s: %v", method, r.Header)
		}
	}
}

func TestTrustedOriginsAreChecked(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "*", "null", "front.example", "https://*.front.example", "https://front.example/", "https://front.example/x",
		"https://FRONT.example", "https://front.example:443", "https://user@front.example", "https://front.example?x",
		"https://front.example#x", "http://front.example", "ftp://front.example", "https://front.example:0x50",
		"https://frоnt.example", " https://front.example", "https://", "//front.example",
	} {
		_, err := core.New(core.Config{
			URL: "https://app.test", Secrets: []core.Secret{testSecret}, Getenv: func(string) string { return "" },
			TrustedOrigins: []string{text},
		})
		if err == nil || !strings.Contains(err.Error(), "TrustedOrigins[0]") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
