package core_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/token"
)

const (
	plainSessionCookie = "authjs.session-token"
	otherSecret        = "another-secret-of-thirty-two-bytes-and-more"
)

// sealedFor returns a token of subject 1 for a salt.
func sealedFor(t *testing.T, a *app, salt string) string {
	t.Helper()
	text, err := a.EncodeToken(&core.Token{Subject: "1"}, salt, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func cookieHeader(name, value string) http.Header { return http.Header{"Cookie": {name + "=" + value}} }

func bearerHeader(value string) http.Header { return http.Header{"Authorization": {"Bearer " + value}} }

// TestReaderOfAnAudience reads the cookie of an Auth with Config.Audience in a service without an Auth.
func TestReaderOfAnAudience(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords()}, Audience: "shop", Secrets: []core.Secret{otherSecret},
	})
	cookies, err := a.NewSession(t.Context(), visit(t, a).request("GET", "/", "", ""), &core.User{ID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := token.NewReader(token.Options{
		Secrets: []core.Secret{otherSecret}, Audience: "shop", Now: a.clock.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := reader.Token(t.Context(), cookieHeader(cookies[0].Name, cookies[0].Value))
	if err != nil || claims == nil {
		t.Errorf("in %s: %v, %v", cookies[0].Name, claims, err)
	}
}

// TestTokenByOrigin reads tokens inside the application for each kind of request: behind a proxy that terminates TLS
// without telling the server, with the header alone, and with an origin that is known to be https.
func TestTokenByOrigin(t *testing.T) {
	t.Parallel()
	trusting := core.Config{TrustHost: core.True}
	for _, row := range []struct {
		name          string
		config        core.Config
		request       core.Request
		secure, plain bool // the cookies whose tokens count
	}{
		{"https", trusting, core.Request{Hosts: []string{"app.test"}, Scheme: "https"}, true, false},
		{"TLS ends in front", trusting, core.Request{Hosts: []string{"app.test"}, Scheme: "http"}, true, true},
		{"the header alone", trusting, core.Request{}, true, true},
		{"the header alone, pinned to https", core.Config{URL: "https://app.test"}, core.Request{}, true, false},
		{"the header alone, pinned to http", core.Config{URL: "http://app.test"}, core.Request{}, true, true},
		{"forced to be secure", core.Config{TrustHost: core.True, UseSecureCookies: core.True},
			core.Request{Hosts: []string{"app.test"}, Scheme: "http"}, true, false},
		{"forced not to be", core.Config{TrustHost: core.True, UseSecureCookies: core.False},
			core.Request{Hosts: []string{"app.test"}, Scheme: "https"}, false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.config.Providers = []core.Provider{passwords()}
			a := newApp(t, row.config)
			for _, came := range []struct {
				cookie string
				counts bool
			}{{sessionCookie, row.secure}, {plainSessionCookie, row.plain}} {
				token := sealedFor(t, a, came.cookie)
				for where, header := range map[string]http.Header{
					"cookie": cookieHeader(came.cookie, token), "header": bearerHeader(token),
				} {
					r := row.request
					r.Method, r.Target, r.Header = "GET", "/", header
					claims, err := a.Token(t.Context(), &r)
					if err != nil || (claims != nil) != came.counts {
						t.Errorf("%s as %s: %v, %v", came.cookie, where, claims, err)
					}
					if raw, err := a.RawToken(t.Context(), &r); err != nil || came.counts && raw != token {
						t.Errorf("%s as %s: raw %q, %v", came.cookie, where, raw, err)
					}
				}
			}
		})
	}
}

// TestTokenOfTheOwnCookieGoesFirst sends tokens under both names of the session cookie to an http origin.
func TestTokenOfTheOwnCookieGoesFirst(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, TrustHost: core.True})
	other, err := a.EncodeToken(&core.Token{Subject: "2"}, sessionCookie, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	r := &core.Request{
		Method: "GET", Target: "/", Hosts: []string{"app.test"}, Scheme: "http",
		Header: cookieHeader(sessionCookie, other+"; "+plainSessionCookie+"="+sealedFor(t, a, plainSessionCookie)),
	}
	if token, err := a.Token(t.Context(), r); err != nil || token == nil || token.Subject != "1" {
		t.Errorf("the token is %v, %v", token, err)
	}
}

// TestAuthorizationHeaders sends headers that are known to break parsers.
func TestAuthorizationHeaders(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	good, err := a.EncodeToken(&core.Token{Subject: "1"}, sessionCookie, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		lines  []string
		signed bool
	}{
		{"none", nil, false},
		{"good", []string{"Bearer " + good}, true},
		{"percent-encoded", []string{"Bearer " + strings.ReplaceAll(good, ".", "%2E")}, true},
		{"the scheme alone", []string{"Bearer"}, false},
		{"the scheme and a blank", []string{"Bearer "}, false},
		{"a lone percent sign", []string{"Bearer %"}, false},
		{"broken encoding", []string{"Bearer " + good + "%zz"}, false},
		{"two blanks", []string{"Bearer  " + good}, false},
		{"a tab", []string{"Bearer\t" + good}, false},
		{"a blank behind it", []string{"Bearer " + good + " "}, false},
		{"an encoded line break", []string{"Bearer " + good + "%0A"}, false},
		{"lower case", []string{"bearer " + good}, false},
		{"no blank", []string{"Bearer" + good}, false},
		{"two headers", []string{"Bearer " + good, "Bearer " + good}, false},
		{"two schemes in one", []string{"Basic YTpi, Bearer " + good}, false},
		{"Basic", []string{"Basic " + good}, false},
		{"quoted", []string{`Bearer "` + good + `"`}, false},
		{"empty", []string{""}, false},
		{"bytes beyond ASCII", []string{"Bearer \xff\xfe"}, false},
		{"a megabyte", []string{"Bearer " + strings.Repeat("a", 1<<20)}, false},
		{"a megabyte of percent signs", []string{"Bearer " + strings.Repeat("%41", 1<<19)}, false},
		{"undefined", []string{"Bearer undefined"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := visit(t, a).request("GET", "/", "", "")
			r.Header = http.Header{"Authorization": row.lines}
			token, err := a.Token(t.Context(), r)
			if err != nil || (token != nil) != row.signed || token != nil && token.Subject != "1" {
				t.Errorf("token %v, %v", token, err)
			}
			if raw, err := a.RawToken(t.Context(), r); err != nil || row.signed && raw != good {
				t.Errorf("raw token %q, %v", raw, err)
			}
			r.Target = "/auth/session" // only Token reads the bearer token
			if body := string(a.Handle(t.Context(), r).Body); body != "null" {
				t.Errorf("a session from the header: %s", body)
			}
		})
	}
}
