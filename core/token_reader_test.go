package core_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
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

// TestTokenReaderOptions reads tokens outside the application, with each option and with the header alone
// (docs/protocol.md §4.5).
func TestTokenReaderOptions(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	named := newApp(t, core.Config{
		Providers: []core.Provider{passwords()}, Audience: "shop", Secrets: []core.Secret{otherSecret},
	})
	secure, plain := sealedFor(t, a, sessionCookie), sealedFor(t, a, plainSessionCookie)
	own, salted := sealedFor(t, a, "sid"), sealedFor(t, a, "grain")
	for _, row := range []struct {
		name   string
		change func(*core.TokenOptions)
		header http.Header
		signed bool
	}{
		{"no header", nil, http.Header{}, false},
		{"the cookie of https", nil, cookieHeader(sessionCookie, secure), true},
		{"the cookie of http", nil, cookieHeader(plainSessionCookie, plain), true},
		{"the salt of the other name", nil, cookieHeader(plainSessionCookie, secure), false},
		{"a bearer token of https", nil, bearerHeader(secure), true},
		{"a bearer token of http", nil, bearerHeader(plain), true},
		{"a bearer token of another salt", nil, bearerHeader(own), false},
		{"a bad cookie before a good header", nil, http.Header{
			"Cookie": {sessionCookie + "=" + plain}, "Authorization": {"Bearer " + secure},
		}, false},
		{"a bad cookie before a good one of the other name", nil,
			http.Header{"Cookie": {sessionCookie + "=x; " + plainSessionCookie + "=" + plain}}, true},

		{"secure: the cookie of https", secureNames(core.True), cookieHeader(sessionCookie, secure), true},
		{"secure: the cookie of http", secureNames(core.True), cookieHeader(plainSessionCookie, plain), false},
		{"secure: a bearer token of http", secureNames(core.True), bearerHeader(plain), false},
		{"not secure: the cookie of https", secureNames(core.False), cookieHeader(sessionCookie, secure), false},
		{"not secure: the cookie of http", secureNames(core.False), cookieHeader(plainSessionCookie, plain), true},

		{"cookie name", cookieNamed("sid"), cookieHeader("sid", own), true},
		{"cookie name, and a default one", cookieNamed("sid"), cookieHeader(sessionCookie, secure), false},
		{"salt", saltedWith("grain"), cookieHeader(sessionCookie, salted), true},
		{"salt, of a bearer token", saltedWith("grain"), bearerHeader(salted), true},
		{"salt, and a token of the default one", saltedWith("grain"), cookieHeader(sessionCookie, secure), false},

		{"secrets: the second fits", func(o *core.TokenOptions) {
			o.Secrets = []core.Secret{otherSecret, testSecret}
		}, cookieHeader(sessionCookie, secure), true},
		{"secrets: none fits", func(o *core.TokenOptions) {
			o.Secrets = []core.Secret{otherSecret}
		}, cookieHeader(sessionCookie, secure), false},
		{"secrets of the environment", func(o *core.TokenOptions) {
			o.Secrets = nil
			o.Getenv = func(name string) string { return map[string]string{"AUTH_SECRET": testSecret}[name] }
		}, cookieHeader(sessionCookie, secure), true},

		{"decode", func(o *core.TokenOptions) { o.Decode = mirror }, cookieHeader(sessionCookie, "1:"+sessionCookie), true},
		{"decode, and another salt", func(o *core.TokenOptions) { o.Decode, o.Salt = mirror, "grain" },
			cookieHeader(sessionCookie, "1:grain"), true},
		{"decode refuses", func(o *core.TokenOptions) { o.Decode = mirror }, cookieHeader(sessionCookie, "1:x"), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var log bytes.Buffer
			o := core.TokenOptions{Secrets: []core.Secret{testSecret}, Now: a.clock.Now, Logger: debugLog(&log)}
			o.Getenv = func(string) string { return "" }
			if row.change != nil {
				row.change(&o)
			}
			reader, err := core.NewTokenReader(o)
			if err != nil {
				t.Fatal(err)
			}
			token, err := reader.Token(t.Context(), row.header)
			if err != nil || (token != nil) != row.signed || token != nil && token.Subject != "1" {
				t.Errorf("token %v, %v", token, err)
			}
			if said := strings.Contains(log.String(), "reason="); said == row.signed {
				t.Errorf("the log says %q", log.String())
			}
		})
	}
	cookies, err := named.NewSession(t.Context(), visit(t, named).request("GET", "/", "", ""), &core.User{ID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := core.NewTokenReader(core.TokenOptions{
		Secrets: []core.Secret{otherSecret}, Audience: "shop", Now: a.clock.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	token, err := reader.Token(t.Context(), cookieHeader(cookies[0].Name, cookies[0].Value))
	if err != nil || token == nil {
		t.Errorf("with an audience, in %s: %v, %v", cookies[0].Name, token, err)
	}
}

func secureNames(position core.OptionalBool) func(*core.TokenOptions) {
	return func(o *core.TokenOptions) { o.Secure = position }
}

func cookieNamed(name string) func(*core.TokenOptions) {
	return func(o *core.TokenOptions) { o.CookieName = name }
}

func saltedWith(salt string) func(*core.TokenOptions) {
	return func(o *core.TokenOptions) { o.Salt = salt }
}

// mirror decodes tokens of the form subject:salt.
func mirror(_ context.Context, p core.DecodeParams) (*core.Token, error) {
	subject, salt, _ := strings.Cut(p.Token, ":")
	if salt != p.Salt || len(p.Secrets) == 0 {
		return nil, errors.New("sealed for another salt")
	}
	return &core.Token{Subject: subject}, nil
}

func debugLog(to *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// TestTokenReaderSaysWhy checks that the log says why a request has no token, and never contains the token.
func TestTokenReaderSaysWhy(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	good := sealedFor(t, a, sessionCookie)
	for name, row := range map[string]struct {
		header http.Header
		says   string
	}{
		"nothing":          {http.Header{}, "neither a session cookie nor an Authorization header"},
		"another scheme":   {http.Header{"Authorization": {"Basic " + good}}, "not a single Bearer token"},
		"two headers":      {http.Header{"Authorization": {"Bearer " + good, "Bearer " + good}}, "not a single Bearer token"},
		"broken encoding":  {bearerHeader("%zz" + good), "percent-encoding"},
		"no token":         {bearerHeader("nonsense"), "the Authorization header: "},
		"another salt":     {cookieHeader(plainSessionCookie, good), "the cookie " + plainSessionCookie + ": "},
		"a broken cookie":  {cookieHeader(sessionCookie, good+"x"), "the cookie " + sessionCookie + ": "},
		"an expired token": {cookieHeader(sessionCookie, good), "token has expired"},
	} {
		var log bytes.Buffer
		now := start
		if strings.Contains(row.says, "expired") {
			now = start.Add(2 * time.Hour)
		}
		reader, err := core.NewTokenReader(core.TokenOptions{
			Secrets: []core.Secret{testSecret}, Logger: debugLog(&log), Now: func() time.Time { return now },
		})
		if err != nil {
			t.Fatal(err)
		}
		token, err := reader.Token(t.Context(), row.header)
		if token != nil || err != nil || !strings.Contains(log.String(), row.says) {
			t.Errorf("%s: %v, %v; the log says %s", name, token, err, log.String())
		}
		if strings.Contains(log.String(), good[len(good)-20:]) || strings.Count(log.String(), "\n") != 1 {
			t.Errorf("%s: the log says %s", name, log.String())
		}
	}
}

// TestTokenReaderFaults checks that errors name the wrong option.
func TestTokenReaderFaults(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	for name, row := range map[string]struct {
		options core.TokenOptions
		class   core.ErrorType
		says    string
	}{
		"no secret":       {core.TokenOptions{}, core.ErrMissingSecret, "AUTH_SECRET"},
		"an empty secret": {core.TokenOptions{Secrets: []core.Secret{""}}, core.ErrInvalidConfig, "TokenOptions.Secrets"},
		"no cookie name": {
			core.TokenOptions{Secrets: []core.Secret{testSecret}, CookieName: "a b"}, core.ErrInvalidConfig, "CookieName",
		},
	} {
		row.options.Getenv = none
		reader, err := core.NewTokenReader(row.options)
		if reader != nil || !errors.Is(err, row.class) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, %v", name, reader, err)
		}
	}
	broken, err := core.NewTokenReader(core.TokenOptions{
		Secrets: []core.Secret{testSecret}, Getenv: none,
		Decode: func(context.Context, core.DecodeParams) (*core.Token, error) { panic("boom") },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range []http.Header{cookieHeader(sessionCookie, "x"), bearerHeader("x")} {
		if token, err := broken.Token(t.Context(), header); token != nil || !errors.Is(err, core.ErrSessionToken) {
			t.Errorf("a Decode that panics: %v, %v", token, err)
		}
	}
}

// TestRawToken checks that RawToken returns the token that Token reads, without checking it.
func TestRawToken(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		header http.Header
		want   string
	}{
		"nothing":        {http.Header{}, ""},
		"a cookie":       {cookieHeader(plainSessionCookie, "anything"), "anything"},
		"chunks":         {cookieHeader(sessionCookie+".0", "any; "+sessionCookie+".1=thing"), "anything"},
		"both names":     {cookieHeader(plainSessionCookie, "a; "+sessionCookie+"=b"), "b"},
		"a header":       {bearerHeader("any%2Fthing"), "any/thing"},
		"cookie, header": {http.Header{"Cookie": {sessionCookie + "=a"}, "Authorization": {"Bearer b"}}, "a"},
	} {
		reader, err := core.NewTokenReader(core.TokenOptions{Secrets: []core.Secret{testSecret}})
		if err != nil {
			t.Fatal(err)
		}
		if raw := reader.RawToken(row.header); raw != row.want {
			t.Errorf("%s: %q", name, raw)
		}
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

// TestTokenUnderTheOwnNameGoesFirst sends tokens under both names of the session cookie to an http origin.
func TestTokenUnderTheOwnNameGoesFirst(t *testing.T) {
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
