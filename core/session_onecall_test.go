package core_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestSessionInOneCall reads the session of a request without a hook. The response gets the cookies of a session that
// was extended or has ended, headers that exclude shared caches, and no CSRF cookie.
func TestSessionInOneCall(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		later    time.Duration
		cookie   string // instead of the session's cookie
		handler  http.Header
		in       bool
		set      string // "fresh" or "cleared"
		caching  string
		noCookie bool
	}{
		{name: "fresh", in: true, caching: "private"},
		{name: "aged", later: 25 * time.Hour, in: true, set: "fresh", caching: "private"},
		{name: "aged, on a public page", later: 25 * time.Hour, in: true,
			handler: http.Header{"Cache-Control": {"public"}}, caching: "public"},
		{name: "expired", later: 31 * 24 * time.Hour, set: "cleared", caching: "private"},
		{name: "none that is good", cookie: "x", set: "cleared", caching: "private"},
		{name: "nobody", noCookie: true, caching: "private"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
			b := visit(t, a)
			signIn(t, b)
			a.clock.Advance(row.later)
			if row.cookie != "" {
				b.cookies[sessionCookie] = row.cookie
			}
			if row.noCookie {
				b.cookies = map[string]string{}
			}
			b.header.Set("Accept", "text/html")
			header := http.Header{}
			for name, values := range row.handler {
				header[name] = values
			}
			session, err := a.Session(t.Context(), b.pageRequest(), header)
			if err != nil || (session != nil) != row.in || session != nil && session.UserID != "1" {
				t.Fatalf("session %v, %v", session, err)
			}
			before := b.cookies[sessionCookie]
			b.take(header)
			came := ""
			switch b.cookies[sessionCookie] {
			case before:
			case "":
				came = "cleared"
			default:
				came = "fresh"
			}
			if came != row.set || header.Get("Cache-Control") != row.caching || len(header["Set-Cookie"]) > 1 {
				t.Errorf("the cookie is %q, the header %v", came, header)
			}
		})
	}
}

// TestSessionInOneCallBehindAHook checks that the hook's session is returned, and that the hook sets the cookies. A
// hook of another Auth does not count.
func TestSessionInOneCallBehindAHook(t *testing.T) {
	t.Parallel()
	reads := 0
	config := core.Config{
		Providers: []core.Provider{passwords()}, Session: core.SessionConfig{UpdateAge: core.Always},
		Events: core.Events{Session: func(context.Context, core.SessionEvent) error { reads++; return nil }},
	}
	a := newApp(t, config)
	config.Audience = "office"
	office := newApp(t, config)
	b := visit(t, a)
	signIn(t, b)
	reads = 0
	v := a.Visit(t.Context(), b.pageRequest())
	header := http.Header{}
	for range 3 {
		if session, err := a.Session(v, b.pageRequest(), header); err != nil || session == nil {
			t.Errorf("the session is %v, %v", session, err)
		}
	}
	if session, err := office.Session(v, b.pageRequest(), header); err != nil || session != nil {
		t.Errorf("the session of another Auth is %v, %v", session, err)
	}
	if reads != 1 || len(header["Set-Cookie"]) > 0 || header.Get("Vary") != "Cookie" {
		t.Errorf("%d reads, header %v", reads, header)
	}
	if out := answerOf(v); len(out["Set-Cookie"]) != 1 {
		t.Errorf("the hook sets %v", out)
	}
}

// TestSessionInOneCallFailsClosed checks that an unknown session is an error and that no cookie is changed.
func TestSessionInOneCallFailsClosed(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{TrustedHosts: []string{"app.test"}, Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	b.origin = "https://evil.example"
	header := http.Header{}
	session, err := a.Session(t.Context(), b.pageRequest(), header)
	if session != nil || !errors.Is(err, core.ErrUntrustedHost) {
		t.Errorf("under another host: %v, %v", session, err)
	}
	unknown := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) {
		return nil, errors.New("no tenant")
	})
	if session, err := unknown.Session(t.Context(), b.pageRequest(), header); session != nil || err == nil {
		t.Errorf("without a configuration: %v, %v", session, err)
	}
	if len(header["Set-Cookie"]) > 0 || header.Get("Cache-Control") != "private" {
		t.Errorf("header %v", header)
	}
}
