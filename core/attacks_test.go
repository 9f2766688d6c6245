package core_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

func payloads[T any](t *testing.T, name string) []T {
	t.Helper()
	raw, err := os.ReadFile("testdata/attacks/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Payloads []T }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Payloads) == 0 {
		t.Fatalf("no payloads in %s", name)
	}
	return file.Payloads
}

const sessionCookie = "__Secure-authjs.session-token"

// TestCrossSiteRequests posts with right and wrong CSRF pairs. The session lives or dies accordingly.
func TestCrossSiteRequests(t *testing.T) {
	t.Parallel()
	type payload struct {
		ID, Want, Why, Cookie, Body, Query, Method, Action string
		Type                                               *string
		Headers                                            [][2]string
	}
	for _, p := range payloads[payload](t, "csrf.json") {
		if p.Action == "callback/oauth-form-post" || p.Action == "callback/webauthn" {
			continue // they need a provider that answers: conformance/proof/attacks has one
		}
		t.Run(p.ID, func(t *testing.T) {
			a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
			b := visit(t, a)
			signIn(t, b)
			pair, other := pairOf(b), pairOf(visit(t, a))
			fill := func(s string) string {
				sum := sha256.Sum256([]byte(pair[0]))
				return strings.NewReplacer("{T}", pair[0], "{H}", pair[1], "{T2}", other[0], "{H2}", other[1], "{sha256:T}", hex.EncodeToString(sum[:]),
					"{H:-1}", pair[1][:len(pair[1])-1], "{T:upper}", strings.ToUpper(pair[0])).Replace(s)
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
				t.Errorf("%s: session ended %v, answered %d to %q", p.Why, ended, response.Status, response.Redirect)
			}
			if p.Want == "refused" && method == "POST" && action != "session" && response.Redirect != "https://app.test/auth/signin?error=MissingCSRF" {
				t.Errorf("%s: answered %d to %q", p.Why, response.Status, response.Redirect)
			}
			if action == "session" && (response.Status != 400 || string(response.Body) != "null") {
				t.Errorf("%s: answered %d: %s", p.Why, response.Status, response.Body)
			}
		})
	}
}

// pairOf is the CSRF token and its hash that a browser holds.
func pairOf(b *browser) [2]string {
	b.csrf()
	token, hash, _ := strings.Cut(b.cookies["__Host-authjs.csrf-token"], "|")
	return [2]string{token, hash}
}

// TestCookieHeaders sends session cookies whole, in chunks, beside strangers and broken.
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
			fill := strings.NewReplacer("{TOK}", token, "{T0}", token[:half], "{T1}", token[half:], "{STATE_COOKIE}", token[:half], "{CALLBACK_URL_COOKIE}", "__Secure-authjs.callback-url")
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
				t.Errorf("%s: answered %d: %s, want %s", p.Why, response.Status, response.Body, p.Want)
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

// TestSessionTokens presents the hostile session tokens as the session cookie and as a bearer token.
func TestSessionTokens(t *testing.T) {
	t.Parallel()
	type payload struct {
		ID, Want, Why, Token string
		Secrets              []string
		Gen                  any
	}
	const secret = "latchkey-attack-secret-one-0123456789abcdef"
	for _, p := range payloads[payload](t, "jwe.json") {
		if p.Gen != nil {
			continue // made at test time, beside the token reader
		}
		t.Run(p.ID, func(t *testing.T) {
			secrets := []core.Secret{secret}
			if p.Secrets != nil {
				secrets = nil
				for _, s := range p.Secrets {
					secrets = append(secrets, core.Secret(s))
				}
			}
			a := newApp(t, core.Config{Secrets: secrets, InsecureShortSecrets: true, Now: func() time.Time { return start }})
			r := visit(t, a).request("GET", "/auth/session", "", "")
			r.Header.Set("Cookie", sessionCookie+"="+url.PathEscape(p.Token))
			signedIn := string(a.Handle(t.Context(), r).Body) != "null"
			bearer := visit(t, a).request("GET", "/", "", "")
			bearer.Header = http.Header{"Authorization": {"Bearer " + url.PathEscape(p.Token)}}
			token, err := a.GetToken(t.Context(), bearer)
			if err != nil {
				t.Errorf("%s: %v", p.Why, err)
			}
			if p.Want == "accept" && (!signedIn || token == nil) || p.Want == "reject" && (signedIn || token != nil) {
				t.Errorf("%s: as a cookie %v, as a bearer token %v, want %s", p.Why, signedIn, token != nil, p.Want)
			}
		})
	}
}

// TestRedirects gives hostile targets wherever one is taken from, and follows where the browser would be sent.
func TestRedirects(t *testing.T) {
	t.Parallel()
	type payload struct {
		ID, Value, Want, Why string
		Build                [][2]any
	}
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	for _, p := range payloads[payload](t, "redirects.json") {
		t.Run(p.ID, func(t *testing.T) {
			value := p.Value
			for _, part := range p.Build {
				value += strings.Repeat(part[0].(string), int(part[1].(float64)))
			}
			value = strings.ReplaceAll(value, "app.example", "app.test")
			for place, ask := range map[string]func(*browser) *core.Response{
				"form": func(b *browser) *core.Response {
					return b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}, "callbackUrl": {value}})
				},
				"sign-out": func(b *browser) *core.Response { return b.submit("/auth/signout", url.Values{"callbackUrl": {value}}) },
				"query": func(b *browser) *core.Response {
					return b.get("/auth/csrf?callbackUrl=" + url.QueryEscape(value))
				},
				"cookie": func(b *browser) *core.Response {
					b.cookies["__Secure-authjs.callback-url"] = value
					r := b.get("/auth/csrf")
					if r.Status != 200 {
						t.Errorf("%s: a bad cookie breaks every page: %d", p.Why, r.Status)
					}
					return r
				},
				"for a script": func(b *browser) *core.Response {
					b.header.Set("X-Auth-Return-Redirect", "1")
					r := b.submit("/auth/signout", url.Values{"callbackUrl": {value}})
					var body struct{ URL string }
					if err := json.Unmarshal(r.Body, &body); r.Status == 200 && (err != nil || body.URL != r.Redirect || r.Header.Get("Content-Type") != "application/json") {
						t.Errorf("%s: %s %s, %v", p.Why, r.Header.Get("Content-Type"), r.Body, err)
					}
					return r
				},
				"form action": func(b *browser) *core.Response {
					r := b.request("POST", "/signout", "application/x-www-form-urlencoded", url.Values{"csrfToken": {b.csrf()}, "redirectTo": {value}}.Encode())
					return core.SignOutAction(t.Context(), a, r)
				},
			} {
				b := visit(t, a)
				r := ask(b)
				for what, target := range map[string]string{"redirect": r.Redirect, "cookie": b.cookies["__Secure-authjs.callback-url"]} {
					if target == "" || what == "cookie" && target == value {
						continue
					}
					if u, err := url.Parse(target); err != nil || u.Scheme != "https" || u.Host != "app.test" || u.User != nil ||
						strings.ContainsFunc(target, func(c rune) bool { return c <= 0x20 || c > 0x7e || c == '\\' }) {
						t.Errorf("%s, %s: the %s leads to %q", p.Why, place, what, target)
					}
				}
			}
		})
	}
}
