package core_test

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

var loggedBrowser = regexp.MustCompile(`browser=([0-9a-z]{8})\b`)

// TestReferenceOfARequest checks that each failed request of a browser has its own code in the page or JSON, in the
// response header and in the log line, which also contains the browser's code.
func TestReferenceOfARequest(t *testing.T) {
	t.Parallel()
	failing := core.Callbacks{JWT: func(context.Context, core.JWTParams) (*core.Token, error) {
		return nil, errors.New("connection refused")
	}}
	never := func(context.Context, *core.Session) error { return core.ErrForbidden }
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: failing})
	good := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	seen, browsers := map[string]string{}, map[string]bool{}
	fields := url.Values{"email": {"ada@example.com"}, "password": {"engine"}}
	for _, row := range []struct {
		name string
		app  *app
		do   func(*browser) *core.Response
	}{
		{"a redirect to the error page", a, func(b *browser) *core.Response {
			return b.submit("/auth/callback/credentials", fields)
		}},
		{"the same again", a, func(b *browser) *core.Response { return b.submit("/auth/callback/credentials", fields) }},
		{"a page", a, func(b *browser) *core.Response { return b.get("/auth/signin?callbackUrl=nope") }},
		{"JSON", a, func(b *browser) *core.Response { return b.get("/auth/session?callbackUrl=ftp:x") }},
		{"a guard", good, func(b *browser) *core.Response {
			signIn(t, b)
			_, refusal := good.Visit(t.Context(), b.request("GET", "/admin", "", "")).Require(never)
			return refusal
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := visit(t, row.app)
			b.header.Set("User-Agent", "Browser/1")
			b.header.Set("Accept", "text/html")
			b.get("/auth/signin")
			row.app.log.Reset()
			r := row.do(b)
			logged := referenceIn(t, loggedReference, row.app.log.String())
			browsers[referenceIn(t, loggedBrowser, row.app.log.String())] = true
			if got := r.Header.Get(core.ReferenceHeader); got != logged {
				t.Errorf("the header has %q, the log %q", got, logged)
			}
			if r.Redirect != "" {
				r = b.get(strings.TrimPrefix(r.Redirect, "https://app.test"))
			}
			if shown := referenceIn(t, shownReference, string(r.Body)); shown != logged {
				t.Errorf("the page has %q, the log %q", shown, logged)
			}
			if other := seen[logged]; other != "" {
				t.Errorf("the code is that of %q too", other)
			}
			seen[logged] = row.name
		})
	}
}

// TestReferenceAfterAMinute checks that the page shows the browser's code if another process serves it, or after a
// minute.
func TestReferenceAfterAMinute(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	b.get("/auth/signin")
	a.log.Reset()
	b.get("/auth/callback/nope")
	logged := a.log.String()
	for _, row := range []struct {
		name  string
		after time.Duration
		want  *regexp.Regexp
	}{
		{"at once", 0, loggedReference},
		{"a minute later", time.Minute, loggedReference},
		{"after that", time.Second, loggedBrowser},
	} {
		a.clock.Advance(row.after)
		page := string(b.get("/auth/error?error=Configuration").Body)
		if got, want := referenceIn(t, shownReference, page), referenceIn(t, row.want, logged); got != want {
			t.Errorf("%s: the page has %q, want %q", row.name, got, want)
		}
	}
}
