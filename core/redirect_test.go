package core_test

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestErrorIsOneParameter sends unusual error names to custom pages: each stays one parameter, and the pages keep their
// query and fragment.
func TestErrorIsOneParameter(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Pages: core.PagesConfig{
		SignIn: "/in?own=1#top", Error: "https://app.test/sorry?own=1#top",
	}})
	for _, value := range []string{
		"x&admin=1#y", "a=b&own=2", "%26admin%3D1", "#", "?x", "ü", "a b", strings.Repeat("x", 2000),
	} {
		for path, page := range map[string]string{"/auth/signin": "/in", "/auth/error": "https://app.test/sorry"} {
			r := visit(t, a).get(path + "?error=" + url.QueryEscape(value))
			u, err := url.Parse(r.Redirect)
			if err != nil {
				t.Fatal(err)
			}
			q := u.Query()
			if !strings.HasPrefix(r.Redirect, page+"?") || u.Fragment != "top" || len(q["own"]) != 1 || q.Get("own") != "1" ||
				len(q["error"]) != 1 || q.Get("error") != value || q.Has("admin") {
				t.Errorf("%s, %.40q: %.200q", path, value, r.Redirect)
			}
		}
	}
}

// TestRedirectCallback returns unsafe values from a callback. The callback decides the target, but cannot break the
// header.
func TestRedirectCallback(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, returns, want string
		panics              bool
	}{
		{name: "nothing", want: "https://app.test"},
		{name: "panic", panics: true, want: "https://app.test"},
		{name: "a path", returns: "/x?y=1", want: "https://app.test/x?y=1"},
		{name: "a foreign site", returns: "https://other.example/x", want: "https://other.example/x"},
		{name: "line breaks", returns: "/x\r\nSet-Cookie: a=b", want: ""},
		{name: "a script", returns: "javascript:alert(1)", want: ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
				Redirect: func(context.Context, core.RedirectParams) (string, error) {
					if row.panics {
						panic("boom")
					}
					return row.returns, nil
				},
			}})
			b := visit(t, a)
			r := b.submit("/auth/signout", url.Values{"callbackUrl": {"/asked"}})
			if row.want != "" && !row.panics && r.Redirect != row.want {
				t.Errorf("led to %q, want %q", r.Redirect, row.want)
			}
			if strings.ContainsAny(r.Redirect, "\r\n") || strings.HasPrefix(r.Redirect, "javascript") ||
				r.Redirect == "" && r.Status < 400 {
				t.Errorf("got status %d to %q", r.Status, r.Redirect)
			}
			if row.panics && r.Redirect != row.want && !strings.Contains(r.Redirect, "error=Configuration") && r.Status < 500 {
				t.Errorf("after a panic: %d to %q", r.Status, r.Redirect)
			}
		})
	}
}

// TestFailureIsOneParameter checks the parameters of custom pages: code and error of a failed sign-in are single
// parameters, whatever the application's codes are, and so are provider and type of the page that says "check your
// mail".
func TestFailureIsOneParameter(t *testing.T) {
	t.Parallel()
	provider := passwords()
	provider.Authorize = func(context.Context, map[string]string, *core.Request) (*core.User, error) {
		return nil, &core.Error{Type: core.ErrCredentialsSignin, Code: "x&admin=1#y"}
	}
	a := newApp(t, core.Config{Providers: []core.Provider{provider}, Pages: core.PagesConfig{
		SignIn: "/in?own=1#top", VerifyRequest: "/mail?own=1#top",
	}})
	for what, r := range map[string]*core.Response{
		"failure":     visit(t, a).submit("/auth/callback/credentials", url.Values{"email": {"a"}}),
		"check mail":  visit(t, a).get("/auth/verify-request?provider=x%26admin%3D1%23y&type=email"),
		"no CSRF":     visit(t, a).post("/auth/signout?error=x%26admin%3D1", nil),
		"query wins?": visit(t, a).get("/auth/signin?error=a&error=b&own=2&admin=1"),
	} {
		u, err := url.Parse(r.Redirect)
		if err != nil || u.Fragment != "top" || strings.Join(u.Query()["own"], " ") != "1" || u.Query().Has("admin") ||
			len(u.Query()["error"]) > 1 {
			t.Errorf("%s: %q", what, r.Redirect)
		}
		if what == "failure" && (u.Query().Get("code") != "x&admin=1#y" || u.Query().Get("error") != "CredentialsSignin") ||
			what == "check mail" && u.Query().Get("provider") != "x&admin=1#y" {
			t.Errorf("%s: %q", what, r.Redirect)
		}
	}
}

// TestNestedTargets sends hostile callback URLs to the pages that pass one on, and then uses the stored value.
func TestNestedTargets(t *testing.T) {
	t.Parallel()
	own := core.PagesConfig{
		NewUser: "/welcome?own=1", Error: "/sorry", VerifyRequest: "/mail", SignIn: "/in", SignOut: "/out",
	}
	for name, pages := range map[string]core.PagesConfig{"ours": {}, "of the application": own} {
		a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Pages: pages})
		for _, value := range []string{
			"https://evil.example/", "//evil.example", "/\\evil.example", "https://app.test@evil.example/",
			"https://app.test.evil.example/", "\thttps://evil.example",
		} {
			for _, page := range []string{
				"verify-request", "error", "error?error=AccessDenied", "signin", "signin?error=CredentialsSignin", "signout",
			} {
				b := visit(t, a)
				separator := "?"
				if strings.Contains(page, "?") {
					separator = "&"
				}
				first := b.get("/auth/" + page + separator + "callbackUrl=" + url.QueryEscape(value))
				if strings.Contains(string(first.Body), "evil.example") || strings.Contains(first.Redirect, "evil.example") {
					t.Errorf("%s, %s with %q redirects to %q, or shows it", name, page, value, first.Redirect)
				}
				r := b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
				if r.Redirect != "https://app.test" && r.Redirect != "https://app.test/" &&
					!strings.HasPrefix(r.Redirect, "https://app.test/") {
					t.Errorf("%s, %s with %q: the sign-in led to %q", name, page, value, r.Redirect)
				}
				if strings.Contains(b.cookies["__Secure-authjs.callback-url"], "evil.example") &&
					!strings.HasPrefix(b.cookies["__Secure-authjs.callback-url"], "https://app.test/") {
					t.Errorf("%s, %s remembers %q", name, page, b.cookies["__Secure-authjs.callback-url"])
				}
			}
		}
	}
}

// TestRedirects sends hostile URLs wherever a callback URL is read, and checks where the browser is redirected to.
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
					return b.submit("/auth/callback/credentials",
						url.Values{"email": {"ada@example.com"}, "password": {"engine"}, "callbackUrl": {value}})
				},
				"sign-out": func(b *browser) *core.Response {
					return b.submit("/auth/signout", url.Values{"callbackUrl": {value}})
				},
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
					if err := json.Unmarshal(r.Body, &body); r.Status == 200 &&
						(err != nil || body.URL != r.Redirect || r.Header.Get("Content-Type") != "application/json") {
						t.Errorf("%s: %s %s, %v", p.Why, r.Header.Get("Content-Type"), r.Body, err)
					}
					return r
				},
				"form action": func(b *browser) *core.Response {
					r := b.request("POST", "/signout", "application/x-www-form-urlencoded",
						url.Values{"csrfToken": {b.csrf()}, "redirectTo": {value}}.Encode())
					return a.SignOut(t.Context(), r)
				},
			} {
				b := visit(t, a)
				r := ask(b)
				for what, target := range map[string]string{
					"redirect": r.Redirect, "cookie": b.cookies["__Secure-authjs.callback-url"],
				} {
					if target == "" || what == "cookie" && target == value {
						continue
					}
					if u, err := url.Parse(target); err != nil || u.Scheme != "https" || u.Host != "app.test" || u.User != nil ||
						strings.ContainsFunc(target, func(c rune) bool { return c <= 0x20 || c > 0x7e || c == '\\' }) {
						t.Errorf("%s, %s: the %s redirects to %q", p.Why, place, what, target)
					}
				}
			}
		})
	}
}
