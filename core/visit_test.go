package core_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// pageRequest returns a browser's request for a page.
func (b *browser) pageRequest() *core.Request {
	r := b.request("GET", "/page?x=1", "", "")
	r.Header.Set("Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")
	return r
}

// TestFormTokenFitsTheCookie checks that the CSRF token in the forms of a page matches the browser's cookie: one in the
// request, or one that the response sets.
func TestFormTokenFitsTheCookie(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{})
	b := visit(t, a)
	b.csrf()
	good := b.cookies[csrfCookie]
	for _, row := range []struct {
		name, cookie, method, accept string
		set                          int
	}{
		{"no cookie", "", "GET", "text/html", 1},
		{"a good one", good, "GET", "text/html", 0},
		{"one of another secret", strings.Repeat("0", 64) + "|" + strings.Repeat("0", 64), "GET", "text/html", 1},
		{"garbage", "x", "GET", "text/html", 1},
		{"curl", "", "GET", "*/*", 1},
		{"no Accept at all", "", "GET", "", 1},
		{"a health check", "", "HEAD", "*/*", 1},
		{"a fragment by PUT", good, "PUT", "*/*", 0},
		{"a fragment by DELETE", "", "DELETE", "text/html", 1},
		{"an upper-case type", "", "GET", "TEXT/HTML", 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := &core.Request{
				Method: row.method, Target: "/page", Hosts: []string{"app.test"}, Scheme: "https", Header: http.Header{},
			}
			if row.accept != "" {
				r.Header.Set("Accept", row.accept)
			}
			if row.cookie != "" {
				r.Header.Set("Cookie", csrfCookie+"="+row.cookie)
			}
			v := a.Visit(t.Context(), r)
			state, ok := ui.StateFrom(v)
			again, _ := ui.StateFrom(v)
			if !ok || state != again {
				t.Fatal("the state is missing, or changes")
			}
			token, err := ui.CSRFToken(v)
			if err != nil {
				t.Fatal(err)
			}
			h := answerOf(v)
			held := row.cookie
			if row.set > 0 && len(h["Set-Cookie"]) == row.set {
				c, err := http.ParseSetCookie(h["Set-Cookie"][0])
				if err != nil {
					t.Fatal(err)
				}
				held = strings.Replace(c.Value, "%7C", "|", 1)
			}
			if len(h["Set-Cookie"]) != row.set {
				t.Errorf("sets %q", h["Set-Cookie"])
			}
			if first, _, _ := strings.Cut(held, "|"); len(token) != 64 || token != first {
				t.Errorf("the forms have the token %q, the browser has %q", token, held)
			}
			if h.Get("Cache-Control") != "private" || h.Get("Vary") != "Cookie" {
				t.Errorf("a page with a token has the header %v", h)
			}
		})
	}
}

// TestSessionAndFormsConcurrently reads the session, renders components and ends the response concurrently, like a
// parallel template. An invalid CSRF cookie makes session and forms both set a cookie.
func TestSessionAndFormsConcurrently(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords(), plainOAuth()}, Session: core.SessionConfig{UpdateAge: core.UpdateAlways},
	})
	b := visit(t, a)
	signIn(t, b)
	b.cookies[csrfCookie] = "x"
	for range 50 {
		v := a.Visit(t.Context(), b.pageRequest())
		h := http.Header{}
		var all sync.WaitGroup
		for _, do := range []func(){
			func() { _, _ = core.SessionFrom(v) },
			func() { _ = ui.SignIn("plain").Render(v, io.Discard) },
			func() { _ = ui.SignedIn().Render(v, io.Discard) },
			func() { _ = ui.SignIn("nope").Render(v, io.Discard) },
			func() { v.Commit(h) },
		} {
			all.Go(do)
		}
		all.Wait()
	}
}

// TestContextValueHasNoEffects looks up each key in the context. Nothing may be set, read or logged.
func TestContextValueHasNoEffects(t *testing.T) {
	t.Parallel()
	reads := 0
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords()}, Session: core.SessionConfig{UpdateAge: core.UpdateAlways},
		Events: core.Events{Session: func(context.Context, core.SessionEvent) error { reads++; return nil }},
	})
	b := visit(t, a)
	signIn(t, b)
	r := b.pageRequest()
	r.Header.Set("Accept", "*/*")
	a.log.Reset()
	type other struct{}
	v := a.Visit(context.WithValue(t.Context(), other{}, "kept"), r)
	if v.Value(other{}) != "kept" || core.VisitOf(v, a.Auth) != v {
		t.Error("a value is lost")
	}
	if s, ok := ui.StateFrom(v); !ok || s.BasePath != "/auth" {
		t.Error("the state is lost")
	}
	if h := answerOf(v); len(h) > 0 || reads > 0 || a.log.Len() > 0 {
		t.Errorf("looking up set %v, read %d sessions and logged %s", h, reads, a.log)
	}
}

// TestVisitsBelongToTheirAuth nests the visits of two Auths. Each Auth must find its own visit.
func TestVisitsBelongToTheirAuth(t *testing.T) {
	t.Parallel()
	customers := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	staff := newApp(t, core.Config{
		Providers: []core.Provider{passwords()}, Secrets: []core.Secret{"another-secret-of-more-than-32-bytes"},
	})
	tenants := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) {
		return staff.Auth, nil
	})
	b := visit(t, customers)
	signIn(t, b)
	r := b.pageRequest()
	outer := customers.Visit(t.Context(), r)
	if core.VisitOf(outer, staff.Auth) != nil || core.VisitOf(outer, tenants) != nil {
		t.Error("a visit belongs to another Auth")
	}
	inner := tenants.Visit(outer, r)
	for name, got := range map[string]*core.Visit{
		"the chosen Auth": core.VisitOf(inner, staff.Auth), "the Auth of PerRequest": core.VisitOf(inner, tenants),
	} {
		if got != inner {
			t.Errorf("%s has another visit", name)
		}
	}
	if s, err := core.SessionFrom(inner); s != nil || err != nil {
		t.Errorf("the innermost session is %v, %v", s, err)
	}
	if core.VisitOf(inner, customers.Auth) != outer {
		t.Error("the outer visit is not found")
	}
	if s, err := core.VisitOf(inner, staff.Auth).Session(); s != nil || err != nil {
		t.Errorf("the session of staff is %v, %v", s, err)
	}
	if s, _ := core.VisitOf(inner, customers.Auth).Session(); s == nil {
		t.Error("the session of the customer is not found")
	}
}

// TestStateReturnsToThePage checks the callback URL in the forms of a page: it is the current page.
func TestStateReturnsToThePage(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, publicPath, method, target string
		header                           http.Header
		want                             string
	}{
		{name: "a page", method: "GET", target: "/account?tab=2", want: "/account?tab=2"},
		{name: "a page behind a proxy that removes a prefix", publicPath: "/app", method: "GET",
			target: "/account", want: "/app/account"},
		{name: "a target that browsers read as a host", method: "GET", target: "//evil.example", want: "/"},
		{name: "an absolute target", method: "GET", target: "http://evil.example/x", want: "/"},
		{name: "a fragment of a page", method: "GET", target: "/parts/nav",
			header: http.Header{"Hx-Current-Url": {"https://app.test/shop?p=1"}}, want: "/shop?p=1"},
		{name: "a part of a page elsewhere", method: "GET", target: "/parts/nav",
			header: http.Header{"Hx-Current-Url": {"https://evil.example/shop"}}, want: "/"},
		{name: "the answer to a form", method: "POST", target: "/save",
			header: http.Header{"Referer": {"https://app.test/edit"}}, want: "/edit"},
		{name: "the answer to a form of another site", method: "POST", target: "/save",
			header: http.Header{"Referer": {"https://evil.example/"}}, want: "/"},
		{name: "the answer to a form without a Referer", method: "POST", target: "/save", want: "/"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{PublicPath: row.publicPath})
			if row.header == nil {
				row.header = http.Header{}
			}
			v := a.Visit(t.Context(), &core.Request{
				Method: row.method, Target: row.target, Hosts: []string{"app.test"}, Scheme: "https", Header: row.header,
			})
			s, ok := ui.StateFrom(v)
			if !ok || s.CallbackURL != row.want {
				t.Errorf("callback URL %q, want %q", s.CallbackURL, row.want)
			}
		})
	}
}

// TestComponentsAreReported renders components that fail. Renderers often drop the error, so it must be in the log.
func TestComponentsAreReported(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{plainOAuth()}})
	v := a.Visit(t.Context(), visit(t, a).pageRequest())
	if err := ui.SignIn("plian").Render(v, io.Discard); err == nil {
		t.Error("an unknown provider is rendered")
	}
	if log := a.log.String(); !strings.Contains(log, `\"plian\" is not among [\"plain\"]`) {
		t.Errorf("the log says %s", log)
	}
}

// TestStoredSessionSetsItsCookieOnceADay reads a stored session on page after page.
func TestStoredSessionSetsItsCookieOnceADay(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Store: newSessionRows(), Providers: []core.Provider{plainOAuth()}})
	b := visit(t, a)
	cookies, err := a.NewSession(t.Context(), b.request("POST", "/register", "", ""), &core.User{ID: "1", Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	b.keep(cookies[0])
	for _, row := range []struct {
		after time.Duration
		set   int
	}{{0, 0}, {time.Hour, 0}, {24 * time.Hour, 1}, {0, 0}} {
		a.clock.Advance(row.after)
		v := a.Visit(t.Context(), b.pageRequest())
		if s, err := v.Session(); s == nil || err != nil {
			t.Fatal(s, err)
		}
		set := 0
		for _, line := range answerOf(v)["Set-Cookie"] {
			if strings.HasPrefix(line, sessionCookie) {
				set++
			}
		}
		if set != row.set {
			t.Errorf("after %v: set %d times, want %d", row.after, set, row.set)
		}
	}
}

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
				t.Errorf("cookie %q, header %v", came, header)
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
		Providers: []core.Provider{passwords()}, Session: core.SessionConfig{UpdateAge: core.UpdateAlways},
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
