package core_test

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// proof contains the parts of a POST request that show its origin, and the expected results.
type proof struct {
	name                string
	cookie, field       bool
	site, origin        string // headers; not sent if empty
	token, sender, none bool   // accepted by default, by CSRFTokenOrSameOrigin, by InsecureSkipCSRFCheck
}

var proofs = []proof{
	{name: "token of the cookie", cookie: true, field: true, token: true, sender: true, none: true},
	{name: "token, from this origin", cookie: true, field: true, site: "same-origin", origin: "https://app.test",
		token: true, sender: true, none: true},
	{name: "token, under Referrer-Policy: no-referrer", cookie: true, field: true, site: "same-origin", origin: "null",
		token: true, sender: true, none: true},
	{name: "token, typed into the address bar", cookie: true, field: true, site: "none",
		token: true, sender: true, none: true},

	{name: "nothing", none: true},
	{name: "cookie alone", cookie: true, none: true},
	{name: "field without its cookie", field: true, none: true},

	{name: "Sec-Fetch-Site alone", site: "same-origin", sender: true, none: true},
	{name: "Sec-Fetch-Site, Origin null", site: "same-origin", origin: "null", sender: true, none: true},
	{name: "Origin alone", origin: "https://app.test", sender: true, none: true},
	{name: "Sec-Fetch-Site none", site: "none", none: true},
	{name: "Sec-Fetch-Site none, Origin", site: "none", origin: "https://app.test", sender: true, none: true},

	{name: "another site", site: "cross-site", origin: "https://evil.example"},
	{name: "another site, with the token", cookie: true, field: true, site: "cross-site"},
	{name: "another site that passes for this origin", cookie: true, site: "cross-site", origin: "https://app.test"},
	{name: "a neighbouring subdomain", site: "same-site", origin: "https://blog.app.test"},
	{name: "a neighbouring subdomain with this Origin", site: "same-site", origin: "https://app.test"},
	{name: "another Origin", origin: "https://evil.example"},
	{name: "Origin null", origin: "null"},
	{name: "this host over http", origin: "http://app.test"},
	{name: "this host with another port", origin: "https://app.test:8443"},
	{name: "an Origin that begins like ours", origin: "https://app.test.evil.example"},
	{name: "this Origin in capitals", origin: "HTTPS://APP.TEST"},
	{name: "unknown Sec-Fetch-Site and another Origin", site: "SAME-ORIGIN", origin: "https://evil.example"},
}

// browser returns a browser on a page with this proof, and the fields of the page's form.
func (p proof) browser(t *testing.T, a handler) (*browser, url.Values) {
	b, form := visit(t, a), url.Values{}
	b.get("/auth/csrf")
	if p.field {
		token, _, _ := strings.Cut(b.cookies[csrfCookie], "|")
		form.Set("csrfToken", token)
	}
	if !p.cookie {
		delete(b.cookies, csrfCookie)
	}
	for name, value := range map[string]string{"Sec-Fetch-Site": p.site, "Origin": p.origin} {
		if value != "" {
			b.header.Set(name, value)
		}
	}
	return b, form
}

const csrfCookie = "__Host-authjs.csrf-token"

// TestCSRFPolicies sends POST requests with different proofs to every kind of action, under every policy.
func TestCSRFPolicies(t *testing.T) {
	t.Parallel()
	type policy struct {
		name   string
		csrf   core.CSRFPolicy
		passes func(proof) bool
	}
	for _, policy := range []policy{
		{"token", core.CSRFPolicy{}, func(p proof) bool { return p.token }},
		{"token or same origin", core.CSRFTokenOrSameOrigin(), func(p proof) bool { return p.sender }},
		{"skipped", core.InsecureSkipCSRFCheck(), func(p proof) bool { return p.none }},
	} {
		t.Run(policy.name, func(t *testing.T) {
			a := newApp(t, core.Config{
				CSRF: policy.csrf, EnableWebAuthn: true, Store: passkeyRows{},
				Session: core.SessionConfig{Strategy: core.StrategyJWT},
				Providers: []core.Provider{passwords(), (&service{}).provider("op"), &core.WebAuthnProvider{
					ID: "passkey", Verifier: struct{ core.WebAuthnVerifier }{},
				}},
			})
			for _, p := range proofs {
				want := policy.passes(p)
				for path, fields := range map[string]url.Values{
					"callback/credentials": {"email": {"ada@example.com"}, "password": {"engine"}}, "signin/op": nil, "signout": nil,
					"session": nil,
				} {
					b, form := p.browser(t, a)
					maps.Copy(form, fields)
					r := b.post("/auth/"+path, form)
					if got := r.Status != http.StatusBadRequest && !strings.Contains(r.Redirect, "error=MissingCSRF"); got != want {
						t.Errorf("%s to %s: passed %t, want %t: %d %q", p.name, path, got, want, r.Status, r.Redirect)
					}
					if !want && (b.cookies[sessionCookie] != "" || b.cookies["__Secure-authjs.pkce.code_verifier"] != "") {
						t.Errorf("%s to %s: something began", p.name, path)
					}
				}
				b, form := p.browser(t, a)
				form.Set("providerId", "op")
				r := a.SignIn(t.Context(), b.request("POST", "/in", "application/x-www-form-urlencoded", form.Encode()))
				if got := strings.HasPrefix(r.Redirect, "https://op.example/"); got != want {
					t.Errorf("%s to a form action: passed %t, want %t: %q", p.name, got, want, r.Redirect)
				}
				// A passkey response may have an Origin instead of the token under every policy.
				b, form = p.browser(t, a)
				form.Set("action", "authenticate")
				form.Set("data", `{"id":"AAAA"}`)
				r = b.post("/auth/callback/passkey", form)
				if got := !strings.Contains(r.Redirect, "error=MissingCSRF"); got != (want || p.sender) {
					t.Errorf("%s with a passkey: passed %t, want %t", p.name, got, want || p.sender)
				}
			}
		})
	}
}

// passkeyRows implements the passkey interfaces. No rejected request calls it.
type passkeyRows struct {
	core.Store
	store.AuthenticatorStore
}

// TestCSRFByOriginBehindAProxy checks that Origin is compared only with the origin from trusted headers.
func TestCSRFByOriginBehindAProxy(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{
		TrustHost: core.True, CSRF: core.CSRFTokenOrSameOrigin(), Providers: []core.Provider{passwords()},
	})
	for _, row := range []struct {
		name, origin, forwarded string
		signedIn                bool
	}{
		{"the public host", "https://app.test", "app.test", true},
		{"the host behind the proxy", "https://inner.local", "app.test", false},
		{"nothing forwarded", "https://inner.local", "", true},
		{"another host", "https://evil.example", "app.test", false},
	} {
		b := visit(t, a)
		b.origin = "https://inner.local"
		b.header.Set("Origin", row.origin)
		if row.forwarded != "" {
			b.header.Set("X-Forwarded-Host", row.forwarded)
			b.header.Set("X-Forwarded-Proto", "https")
		}
		b.post("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
		if got := b.cookies[sessionCookie] != ""; got != row.signedIn {
			t.Errorf("%s: signed in %t, want %t", row.name, got, row.signedIn)
		}
	}
}

// TestCSRFRefusalsSayWhy checks that the log names each reason of a rejection and contains no input.
func TestCSRFRefusalsSayWhy(t *testing.T) {
	t.Parallel()
	other := newApp(t, core.Config{
		Secrets: []core.Secret{"another-secret-of-more-than-thirty-two-bytes"}, Providers: []core.Provider{passwords()},
	})
	stranger := visit(t, other)
	stranger.csrf()
	foreign := stranger.cookies[csrfCookie]
	form, all := "application/x-www-form-urlencoded", []core.CSRFPolicy{{}, core.CSRFTokenOrSameOrigin()}
	for _, row := range []struct {
		name              string
		policies          []core.CSRFPolicy
		cookie            string // "ours", or a value
		contentType, body string
		header            map[string]string
		want              string
	}{
		{"no cookie", all, "", form, "csrfToken={T}", nil, "no CSRF cookie"},
		{"cookie of another secret", all, foreign, form, "csrfToken={T}", nil, "the CSRF cookie is invalid"},
		{"no field", all, "ours", form, "a=canary", nil, "the body has no csrfToken"},
		{"field of another page", all, "ours", form, "csrfToken=canary", nil, "csrfToken does not match the cookie"},
		{"another site", all, "ours", form, "csrfToken={T}", map[string]string{"Sec-Fetch-Site": "cross-site"},
			"Sec-Fetch-Site: cross-site"},
		{"multipart", all, "ours", "multipart/form-data; boundary=canary", "--canary--", nil,
			"its media type is multipart/form-data"},
		{"plain text", all, "ours", "text/plain", "csrfToken={T}", nil, "its media type is text/plain"},
		{"made-up type", all, "ours", "x-canary/y", "csrfToken={T}", nil, "its media type is another"},
		{"no type", all, "ours", "", "", nil, "it has no Content-Type"},
		{"malformed type", all, "ours", "canary canary", "csrfToken={T}", nil, "its Content-Type is malformed"},
		{"no field, another origin", all[1:], "ours", form, "a=b", map[string]string{"Origin": "https://canary.example"},
			"the body has no csrfToken: GET csrf and the built-in pages contain it; its Origin header is not https://app.test"},
		{"skipped, another site", []core.CSRFPolicy{core.InsecureSkipCSRFCheck()}, "", form, "a=b",
			map[string]string{"Sec-Fetch-Site": "cross-site"}, "Sec-Fetch-Site: cross-site"},
		{"skipped, a subdomain", []core.CSRFPolicy{core.InsecureSkipCSRFCheck()}, "", form, "a=b",
			map[string]string{"Sec-Fetch-Site": "same-site"}, "Sec-Fetch-Site: same-site"},
		{"skipped, another origin", []core.CSRFPolicy{core.InsecureSkipCSRFCheck()}, "", form, "a=b",
			map[string]string{"Origin": "https://canary.example"}, "its Origin header is not https://app.test"},
	} {
		for _, policy := range row.policies {
			t.Run(row.name, func(t *testing.T) {
				a := newApp(t, core.Config{CSRF: policy, Providers: []core.Provider{passwords()}})
				b := visit(t, a)
				b.get("/auth/csrf")
				token, _, _ := strings.Cut(b.cookies[csrfCookie], "|")
				switch row.cookie {
				case "":
					delete(b.cookies, csrfCookie)
				case "ours":
				default:
					b.cookies[csrfCookie] = row.cookie
				}
				for name, value := range row.header {
					b.header.Set(name, value)
				}
				a.log.Reset()
				r := b.send("POST", "/auth/signout", row.contentType, strings.ReplaceAll(row.body, "{T}", token))
				log := a.log.String()
				if !strings.Contains(r.Redirect, "error=MissingCSRF") || !strings.Contains(log, row.want) {
					t.Errorf("got status %d %q, log: %s", r.Status, r.Redirect, log)
				}
				if strings.Contains(log, "canary") || token != "" && strings.Contains(log, token) {
					t.Errorf("the log repeats what was sent: %s", log)
				}
				if row.contentType != "" {
					a.log.Reset()
					a.SignOut(t.Context(), b.request("POST", "/out", row.contentType, strings.ReplaceAll(row.body, "{T}", token)))
					if row.cookie != "" && !strings.Contains(a.log.String(), row.want) {
						t.Errorf("log of the form action: %s", a.log)
					}
				}
			})
		}
	}
}

// TestSeveralCSRFCookies puts the cookie of a sibling subdomain first, as browsers do with cookies of a longer path.
func TestSeveralCSRFCookies(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{
		Cookies: core.CookiesConfig{CSRFToken: core.CookieOptions{Name: "csrf"}}, Providers: []core.Provider{passwords()},
	})
	for planted, good := range map[int]bool{0: true, 1: true, 3: true, 4: false, 50: false} {
		b := visit(t, a)
		token := b.csrf()
		ours := "csrf=" + url.QueryEscape(b.cookies["csrf"])
		clear(b.cookies)
		b.header.Set("Cookie", strings.Join(append(slices.Repeat([]string{"csrf=junk"}, planted), ours), "; "))
		b.post("/auth/callback/credentials",
			url.Values{"csrfToken": {token}, "email": {"ada@example.com"}, "password": {"engine"}})
		if got := b.cookies[sessionCookie] != ""; got != good {
			t.Errorf("behind %d others: signed in %t, want %t", planted, got, good)
		}
	}
}

// TestCrossSiteRequests posts valid and invalid CSRF pairs. Only a valid pair ends the session.
func TestCrossSiteRequests(t *testing.T) {
	t.Parallel()
	type payload struct {
		ID, Want, Why, Cookie, Body, Query, Method, Action string
		Type                                               *string
		Headers                                            [][2]string
	}
	for _, p := range payloads[payload](t, "csrf.json") {
		if p.Action == "callback/oauth-form-post" || p.Action == "callback/webauthn" {
			continue // they need a provider, as in conformance/proof/attacks
		}
		t.Run(p.ID, func(t *testing.T) {
			a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
			b := visit(t, a)
			signIn(t, b)
			pair, other := pairOf(b), pairOf(visit(t, a))
			fill := func(s string) string {
				sum := sha256.Sum256([]byte(pair[0]))
				return strings.NewReplacer("{T}", pair[0], "{H}", pair[1], "{T2}", other[0], "{H2}", other[1],
					"{sha256:T}", hex.EncodeToString(sum[:]), "{H:-1}", pair[1][:len(pair[1])-1],
					"{T:upper}", strings.ToUpper(pair[0])).Replace(s)
			}
			action := p.Action
			switch action {
			case "":
				action = "signout"
			case "signin/credentials-or-oauth":
				action = "signin/credentials"
			}
			contentType := "application/x-www-form-urlencoded"
			if p.Type != nil {
				contentType = *p.Type
			}
			method := p.Method
			if method == "" {
				method = "POST"
			}
			r := b.request(method, "/auth/"+action+"?"+fill(p.Query), contentType, fill(p.Body))
			if contentType == "" {
				r.Body = strings.NewReader(fill(p.Body))
			}
			r.Header.Set("Cookie", sessionCookie+"="+b.cookies[sessionCookie]+"; "+fill(p.Cookie))
			for _, h := range p.Headers {
				r.Header.Set(h[0], fill(h[1]))
			}
			response := a.Handle(t.Context(), r)
			ended := false
			for _, c := range response.Cookies {
				ended = ended || c.Name == sessionCookie && c.Value == ""
			}
			if ended != (p.Want == "verified") {
				t.Errorf("%s: session ended %v, got status %d to %q", p.Why, ended, response.Status, response.Redirect)
			}
			if p.Want == "refused" && method == "POST" && action != "session" &&
				response.Redirect != "https://app.test/auth/signin?error=MissingCSRF" {
				t.Errorf("%s: got status %d to %q", p.Why, response.Status, response.Redirect)
			}
			if action == "session" && (response.Status != 400 || string(response.Body) != "null") {
				t.Errorf("%s: got status %d: %s", p.Why, response.Status, response.Body)
			}
		})
	}
}

// pairOf returns the CSRF token and its hash in a browser's cookie.
func pairOf(b *browser) [2]string {
	b.csrf()
	token, hash, _ := strings.Cut(b.cookies["__Host-authjs.csrf-token"], "|")
	return [2]string{token, hash}
}

// TestNoTokenWhereTheCheckIsOff requests a CSRF token if the policy uses none: both methods have status 404, and New
// logs a warning (docs/protocol.md §5.2).
func TestNoTokenWhereTheCheckIsOff(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "POST"} {
		a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, CSRF: core.InsecureSkipCSRFCheck()})
		b := visit(t, a)
		b.cookies["__Host-authjs.csrf-token"] = "of the time before"
		r := b.send(method, "/auth/csrf", "", "")
		if r.Status != 404 || r.Redirect != "" || len(r.Body) > 0 || b.cookies["__Host-authjs.csrf-token"] != "" {
			t.Errorf("%s: %d, to %q, %v", method, r.Status, r.Redirect, r.Cookies)
		}
		if log := a.log.String(); !strings.Contains(log, "csrf-disabled") {
			t.Errorf("%s: the log says %s", method, log)
		}
	}
}
