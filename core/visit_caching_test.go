package core_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// TestReadingTheSessionKeepsSharedCachesOff reads the session with each method, with and without a session. The
// response must exclude shared caches.
func TestReadingTheSessionKeepsSharedCachesOff(t *testing.T) {
	t.Parallel()
	type role struct{ Name string }
	data := &core.SessionData[role]{Load: func(context.Context, *core.User) (role, error) { return role{"admin"}, nil }}
	never := func(context.Context, *core.Session) error { return core.ErrForbidden }
	old := func(context.Context, *core.Session) error { return &core.StepUp{} }
	reads := map[string]func(a *core.Auth, v *core.Visit, r *core.Request) *core.Response{
		"Visit.Session": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response { _, _ = v.Session(); return nil },
		"SessionFrom": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, _ = core.SessionFrom(v)
			return nil
		},
		"SessionData.FromContext": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, _, _ = data.FromContext(v)
			return nil
		},
		"a component": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_ = ui.SignedIn().Render(v, &strings.Builder{})
			return nil
		},
		"Auth.Session": func(a *core.Auth, v *core.Visit, r *core.Request) *core.Response {
			_, _ = a.Session(v, r, http.Header{})
			return nil
		},
		"Auth.RawToken": func(a *core.Auth, v *core.Visit, r *core.Request) *core.Response {
			_, _ = a.RawToken(v, r)
			return nil
		},
		"Auth.Token": func(a *core.Auth, v *core.Visit, r *core.Request) *core.Response {
			_, _ = a.Token(v, r)
			return nil
		},
		"a guard": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, refusal := v.Require()
			return refusal
		},
		"a guard of paths": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, refusal := v.RequireWhere(core.PathPrefix("/"))
			return refusal
		},
		"a guard that refuses": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, refusal := v.Require(never)
			return refusal
		},
		"a guard that asks again": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, refusal := v.Require(old)
			return refusal
		},
		"a condition that panics": func(_ *core.Auth, v *core.Visit, _ *core.Request) *core.Response {
			_, refusal := v.RequireWhere(func(*core.Request) bool { panic("boom") })
			return refusal
		},
	}
	for name, read := range reads {
		for _, who := range []string{"signed in", "signed out", "bearer"} {
			for _, accept := range []string{"text/html", "application/json"} {
				t.Run(name+", "+who+", "+accept, func(t *testing.T) {
					a, _ := factual(t, core.StrategyJWT, func(c *core.Config) { c.Session.Bearer, c.Data = true, data })
					b := visit(t, a)
					b.header.Set("Accept", accept)
					if who != "signed out" {
						b.signIn("1")
					}
					if who == "bearer" {
						b.header.Set("Authorization", "Bearer "+b.cookies[sessionCookie])
						b.cookies = map[string]string{}
					}
					r := b.request("GET", "/page", "", "")
					v := a.Visit(t.Context(), r)
					h := http.Header{}
					if refusal := read(a.Auth, v, r); refusal != nil {
						refusal.Fill(h)
					}
					v.Commit(h)
					vary := strings.Join(h["Vary"], ", ")
					if !strings.Contains(vary, "Cookie") || !strings.Contains(vary, "Authorization") ||
						!slices.ContainsFunc(h["Cache-Control"], func(s string) bool { return strings.HasPrefix(s, "private") }) {
						t.Errorf("shared caches may store the response: %v", h)
					}
				})
			}
		}
	}
}

// TestPageCachesAreKeptOut checks the headers that the hook adds to the response of a page.
func TestPageCachesAreKeptOut(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords()}, Session: core.SessionConfig{UpdateAge: core.UpdateAlways},
	})
	b := visit(t, a)
	signIn(t, b)
	for _, row := range []struct {
		name            string
		header          http.Header
		token, session  bool
		strange         bool // a browser without cookies
		caching, vary   string
		csrf, renewed   int
		acceptsAnything bool
	}{
		{name: "a page without anything", strange: true, acceptsAnything: true},
		{name: "a page without anything, for a browser", strange: true, caching: "private", vary: "Cookie", csrf: 1},
		{name: "data for a browser", strange: true, header: http.Header{"Content-Type": {"application/json"}}},
		{name: "a redirect", strange: true, header: http.Header{"Location": {"/x"}}},
		{name: "a page in capitals", strange: true, header: http.Header{"Content-Type": {"TEXT/HTML; charset=utf-8"}},
			caching: "private", vary: "Cookie", csrf: 1},
		{name: "a public page", strange: true, header: http.Header{"Cache-Control": {"public, max-age=60"}},
			caching: "public, max-age=60"},
		{name: "a page for shared caches", strange: true, header: http.Header{"Cache-Control": {"max-age=0, S-MaxAge=60"}},
			caching: "max-age=0, S-MaxAge=60"},
		{name: "a page with max-age", strange: true,
			header: http.Header{"Cache-Control": {"max-age=60"}}, caching: "max-age=60"},
		{name: "a page with max-age and private", strange: true,
			header:  http.Header{"Cache-Control": {"private, max-age=60"}},
			caching: "private, max-age=60", vary: "Cookie", csrf: 1},
		{name: "a form on a page with max-age", token: true,
			header:  http.Header{"Cache-Control": {"max-age=60, must-revalidate"}},
			caching: "max-age=60, must-revalidate|private", vary: "Cookie"},
		{
			name: "a renewed session on a page with max-age", session: true,
			header:  http.Header{"Cache-Control": {"max-age=60"}},
			caching: "max-age=60|private", vary: "Cookie", renewed: 1,
		},
		{name: "a form", token: true, caching: "private", vary: "Cookie"},
		{name: "a form and a handler's own rules", token: true,
			header:  http.Header{"Cache-Control": {"no-store"}, "Vary": {"Accept, Cookie"}},
			caching: "no-store", vary: "Accept, Cookie"},
		{name: "a form and Vary of another kind", token: true, header: http.Header{"Vary": {"Accept"}},
			caching: "private", vary: "Accept|Cookie"},
		{name: "a form and Vary of a similar field", token: true,
			header:  http.Header{"Vary": {"X-Cookie-Notice, Set-Cookie"}},
			caching: "private", vary: "X-Cookie-Notice, Set-Cookie|Cookie"},
		{name: "a form and Vary in lower case", token: true, header: http.Header{"Vary": {"accept,cookie"}},
			caching: "private", vary: "accept,cookie"},
		{name: "a form and Vary: *", token: true, header: http.Header{"Vary": {"*"}},
			caching: "private", vary: "*"},
		{name: "a renewed session", session: true, caching: "private", vary: "Cookie", renewed: 1},
		{name: "a renewed session on a public page", session: true,
			header: http.Header{"Cache-Control": {"public"}}, caching: "public", vary: "Cookie"},
		{name: "a page that may be streamed, for a browser with a session", caching: "private", vary: "Cookie"},
		{name: "data that depends on no session", header: http.Header{"Content-Type": {"application/json"}}},
		{name: "data that depends on the session", session: true, header: http.Header{"Content-Type": {"application/json"}},
			caching: "private", vary: "Cookie", renewed: 1},
		{name: "a Cache-Control without rules for shared caches", session: true,
			header:  http.Header{"Cache-Control": {"must-revalidate"}},
			caching: "must-revalidate|private", vary: "Cookie", renewed: 1},
		{name: "an age of zero", session: true, header: http.Header{"Cache-Control": {"max-age=0"}},
			caching: "max-age=0|private", vary: "Cookie", renewed: 1},
		{name: "private for one field alone", session: true,
			header:  http.Header{"Cache-Control": {`max-age=60, private="Set-Cookie"`}},
			caching: `max-age=60, private="Set-Cookie"|private`, vary: "Cookie", renewed: 1},
		{name: "an Expires header", session: true, header: http.Header{"Expires": {"Thu, 01 Jan 2099 00:00:00 GMT"}},
			caching: "private", vary: "Cookie", renewed: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := b.pageRequest()
			if row.strange {
				r.Header.Del("Cookie")
			}
			if row.acceptsAnything {
				r.Header.Set("Accept", "*/*")
			}
			v := a.Visit(t.Context(), r)
			if row.token {
				if _, err := ui.CSRFToken(v); err != nil {
					t.Fatal(err)
				}
			}
			if row.session {
				if s, err := v.Session(); s == nil || err != nil {
					t.Fatal(s, err)
				}
			}
			h := row.header.Clone()
			if h == nil {
				h = http.Header{}
			}
			v.Commit(h)
			if got := strings.Join(h["Cache-Control"], "|"); got != row.caching {
				t.Errorf("Cache-Control %q, want %q", got, row.caching)
			}
			if got := strings.Join(h["Vary"], "|"); got != row.vary {
				t.Errorf("Vary %q, want %q", got, row.vary)
			}
			csrf, renewed := 0, 0
			for _, line := range h["Set-Cookie"] {
				switch {
				case strings.HasPrefix(line, csrfCookie+"="):
					csrf++
				case strings.HasPrefix(line, sessionCookie+"="):
					renewed++
				}
			}
			if csrf != row.csrf || renewed != row.renewed || len(h["Set-Cookie"]) != csrf+renewed {
				t.Errorf("sets %q", h["Set-Cookie"])
			}
			before := len(h)
			v.Commit(h)
			if len(h) != before {
				t.Error("a second Commit adds something")
			}
		})
	}
}

// TestNothingIsSetBehindTheHook reads session and CSRF token from many goroutines after the header was sent.
func TestNothingIsSetBehindTheHook(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{
		Providers: []core.Provider{passwords()}, Session: core.SessionConfig{UpdateAge: core.UpdateAlways},
	})
	b := visit(t, a)
	signIn(t, b)
	r := b.pageRequest()
	r.Header.Set("Accept", "*/*")
	r.Header.Set("Cookie", strings.ReplaceAll(r.Header.Get("Cookie"), csrfCookie, "another"))
	v := a.Visit(t.Context(), r)
	h := answerOf(v)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if s, err := core.SessionFrom(v); err != nil || s == nil || s.UserID != "1" {
				t.Errorf("session %v, %v", s, err)
			}
			token, err := ui.CSRFToken(v)
			if token != "" || err == nil || !strings.Contains(err.Error(), "header was already sent") {
				t.Errorf("a token without a cookie: %q, %v", token, err)
			}
		})
	}
	all.Wait()
	v.Commit(h)
	if len(h["Set-Cookie"]) != 0 {
		t.Errorf("set %q", h["Set-Cookie"])
	}
}
