package token

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/jwe"
)

const (
	sessionCookie      = "__Secure-authjs.session-token"
	plainSessionCookie = "authjs.session-token"
	testSecret         = "a-secret-of-thirty-two-bytes-and-more"
	otherSecret        = "another-secret-of-thirty-two-bytes-and-more"
)

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// sealedFor returns a token of subject 1 for a salt, which expires after an hour.
func sealedFor(t *testing.T, salt string) string {
	t.Helper()
	keys, err := jwe.NewKeyring([]string{testSecret}, salt)
	if err != nil {
		t.Fatal(err)
	}
	text, err := keys.Seal(jwe.IV{1}, []byte(`{"sub":"1","exp":`+strconv.FormatInt(start.Add(time.Hour).Unix(), 10)+`}`))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func cookieHeader(name, value string) http.Header { return http.Header{"Cookie": {name + "=" + value}} }

func bearerHeader(value string) http.Header { return http.Header{"Authorization": {"Bearer " + value}} }

// TestReaderOptions reads tokens outside the application, with each option and with the header alone
// (docs/protocol.md §4.5).
func TestReaderOptions(t *testing.T) {
	t.Parallel()
	secure, plain := sealedFor(t, sessionCookie), sealedFor(t, plainSessionCookie)
	own, salted := sealedFor(t, "sid"), sealedFor(t, "grain")
	for _, row := range []struct {
		name   string
		change func(*Options)
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

		{"secure: the cookie of https", secureNames(true), cookieHeader(sessionCookie, secure), true},
		{"secure: the cookie of http", secureNames(true), cookieHeader(plainSessionCookie, plain), false},
		{"secure: a bearer token of http", secureNames(true), bearerHeader(plain), false},
		{"not secure: the cookie of https", secureNames(false), cookieHeader(sessionCookie, secure), false},
		{"not secure: the cookie of http", secureNames(false), cookieHeader(plainSessionCookie, plain), true},

		{"cookie name", cookieNamed("sid"), cookieHeader("sid", own), true},
		{"cookie name, and a default one", cookieNamed("sid"), cookieHeader(sessionCookie, secure), false},
		{"salt", saltedWith("grain"), cookieHeader(sessionCookie, salted), true},
		{"salt, of a bearer token", saltedWith("grain"), bearerHeader(salted), true},
		{"salt, and a token of the default one", saltedWith("grain"), cookieHeader(sessionCookie, secure), false},

		{"secrets: the second fits", func(o *Options) {
			o.Secrets = []store.Secret{otherSecret, testSecret}
		}, cookieHeader(sessionCookie, secure), true},
		{"secrets: none fits", func(o *Options) {
			o.Secrets = []store.Secret{otherSecret}
		}, cookieHeader(sessionCookie, secure), false},
		{"secrets of the environment", func(o *Options) {
			o.Secrets = nil
			o.Getenv = func(name string) string { return map[string]string{"AUTH_SECRET": testSecret}[name] }
		}, cookieHeader(sessionCookie, secure), true},

		{"decode", func(o *Options) { o.Decode = mirror }, cookieHeader(sessionCookie, "1:"+sessionCookie), true},
		{"decode, and another salt", func(o *Options) { o.Decode, o.Salt = mirror, "grain" },
			cookieHeader(sessionCookie, "1:grain"), true},
		{"decode refuses", func(o *Options) { o.Decode = mirror }, cookieHeader(sessionCookie, "1:x"), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var log bytes.Buffer
			o := Options{Secrets: []store.Secret{testSecret}, Now: func() time.Time { return start }, Logger: debugLog(&log)}
			o.Getenv = func(string) string { return "" }
			if row.change != nil {
				row.change(&o)
			}
			reader, err := NewReader(o)
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
}

func secureNames(secure bool) func(*Options) {
	return func(o *Options) { o.Secure = &secure }
}

func cookieNamed(name string) func(*Options) {
	return func(o *Options) { o.CookieName = name }
}

func saltedWith(salt string) func(*Options) {
	return func(o *Options) { o.Salt = salt }
}

// mirror decodes tokens of the form subject:salt.
func mirror(_ context.Context, p DecodeParams) (*Token, error) {
	subject, salt, _ := strings.Cut(p.Token, ":")
	if salt != p.Salt || len(p.Secrets) == 0 {
		return nil, errors.New("sealed for another salt")
	}
	return &Token{Subject: subject}, nil
}

func debugLog(to *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// TestReaderSaysWhy checks that the log says why a request has no token, and never contains the token.
func TestReaderSaysWhy(t *testing.T) {
	t.Parallel()
	good := sealedFor(t, sessionCookie)
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
		reader, err := NewReader(Options{
			Secrets: []store.Secret{testSecret}, Logger: debugLog(&log), Now: func() time.Time { return now },
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

// TestReaderFaults checks that errors name the wrong option.
func TestReaderFaults(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	for name, row := range map[string]struct {
		options Options
		says    string
	}{
		"no secret":       {Options{}, "AUTH_SECRET"},
		"an empty secret": {Options{Secrets: []store.Secret{""}}, "Options.Secrets"},
		"no cookie name": {
			Options{Secrets: []store.Secret{testSecret}, CookieName: "a b"}, "CookieName",
		},
	} {
		row.options.Getenv = none
		reader, err := NewReader(row.options)
		if reader != nil || err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v, %v", name, reader, err)
		}
	}
	broken, err := NewReader(Options{
		Secrets: []store.Secret{testSecret}, Getenv: none,
		Decode: func(context.Context, DecodeParams) (*Token, error) { panic("boom") },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range []http.Header{cookieHeader(sessionCookie, "x"), bearerHeader("x")} {
		if token, err := broken.Token(t.Context(), header); token != nil || err == nil {
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
		reader, err := NewReader(Options{Secrets: []store.Secret{testSecret}})
		if err != nil {
			t.Fatal(err)
		}
		if raw := reader.RawToken(row.header); raw != row.want {
			t.Errorf("%s: %q", name, raw)
		}
	}
}
