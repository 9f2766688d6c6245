package core_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestHeadersAreNotShared: a change to the header of one response does not affect other responses.
func TestHeadersAreNotShared(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	ways := map[string]func() *core.Response{
		"session":   func() *core.Response { return b.get("/auth/session") },
		"providers": func() *core.Response { return b.get("/auth/providers") },
		"csrf":      func() *core.Response { return b.get("/auth/csrf") },
		"sign-in":   func() *core.Response { return b.get("/auth/signin") },
		"error":     func() *core.Response { return b.get("/auth/error?error=Configuration") },
		"redirect":  func() *core.Response { return b.post("/auth/signout", url.Values{"csrfToken": {"no"}}) },
		"refused":   func() *core.Response { return b.get("/auth/nope") },
		"no update": func() *core.Response { return b.post("/auth/session", nil) },
		"outage":    func() *core.Response { return b.get("/auth/session?callbackUrl=ftp:x") },
		"unwanted":  func() *core.Response { return b.get("/auth/signin?callbackUrl=ftp:x") },
	}
	header := func(name string) http.Header {
		h := http.Header{}
		ways[name]().Fill(h)
		delete(h, "Set-Cookie")
		return h
	}
	names := slices.Sorted(maps.Keys(ways))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			before := map[string]http.Header{}
			for _, other := range names {
				before[other] = header(other).Clone()
			}
			for field, values := range header(name) {
				for i := range values {
					values[i] = "changed"
				}
				_ = append(values, "behind "+field)
			}
			for _, other := range names {
				for field, values := range header(other) {
					if field != "Content-Security-Policy" && field != core.ReferenceHeader && !slices.Equal(values,
						before[other][field]) {
						t.Errorf("%s of %s is %q now", field, other, values)
					}
				}
			}
		})
	}
}

// TestFill: a field of a response replaces the value of earlier handlers; cookies are added after theirs.
func TestFill(t *testing.T) {
	t.Parallel()
	r := &core.Response{Cookies: []core.Cookie{{Name: "a", Value: "1", Path: "/"}, {Name: "b", Value: "2", Path: "/"}}}
	r.Header = http.Header{"Cache-Control": {"private"}}
	h := http.Header{"Cache-Control": {"public", "max-age=60"}, "Server": {"own"}, "Set-Cookie": {"own=1"}}
	r.Fill(h)
	want := http.Header{
		"Cache-Control": {"private"}, "Server": {"own"},
		"Set-Cookie": {"own=1", r.Cookies[0].String(), r.Cookies[1].String()},
	}
	if !maps.EqualFunc(h, want, slices.Equal[[]string]) {
		t.Errorf("the header is %q, want %q", h, want)
	}
	h["Cache-Control"][0] = "no-store"
	if got := r.Header.Get("Cache-Control"); got != "private" {
		t.Errorf("the Response has changed: %q", got)
	}
	bare := http.Header{}
	if (&core.Response{}).Fill(bare); len(bare) > 0 {
		t.Errorf("an empty response gives %q", bare)
	}
}

func TestNewSessionWithoutAUser(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{})
	cookies, err := a.NewSession(t.Context(), visit(t, a).request("POST", "/register", "", ""), nil)
	if err == nil || cookies != nil {
		t.Errorf("got %v, %v", cookies, err)
	}
}
