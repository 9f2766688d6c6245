package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestGuardSpeaksTheClientsLanguage asks for a protected page without a session, as clients are known to ask.
func TestGuardSpeaksTheClientsLanguage(t *testing.T) {
	t.Parallel()
	const signIn = "https://app.test/auth/signin?error=SessionRequired&callbackUrl=%2Fprivate"
	const chrome = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8," +
		"application/signed-exchange;v=b3;q=0.7"
	for _, row := range []struct {
		name, method string
		header       http.Header
		status       int
		htmx         string
	}{
		{"Chrome", "GET", http.Header{"Accept": {chrome}}, 303, ""},
		{"Firefox", "GET",
			http.Header{"Accept": {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}}, 303, ""},
		{"Turbo", "GET", http.Header{"Accept": {"text/vnd.turbo-stream.html, text/html, application/xhtml+xml"}}, 303, ""},
		{"lynx", "GET", http.Header{"Accept": {"text/html, text/plain, text/sgml, */*;q=0.01"}}, 303, ""},
		{"HEAD as GET", "HEAD", http.Header{"Accept": {chrome}}, 303, ""},
		{"an upper-case type", "GET", http.Header{"Accept": {"TEXT/HTML"}}, 303, ""},
		{"any text", "GET", http.Header{"Accept": {"text/*"}}, 303, ""},
		{"XHTML alone", "GET", http.Header{"Accept": {"application/xhtml+xml"}}, 303, ""},
		{"HTML in a second line", "GET", http.Header{"Accept": {"*/*", "text/html"}}, 303, ""},
		{"HTML with a parameter", "GET", http.Header{"Accept": {"text/html;level=1;q=0.5"}}, 303, ""},

		{"curl", "GET", http.Header{"Accept": {"*/*"}}, 401, ""},
		{"Go's client", "GET", http.Header{}, 401, ""},
		{"a health check", "HEAD", http.Header{"Accept": {"*/*"}}, 401, ""},
		{"axios", "GET", http.Header{"Accept": {"application/json, text/plain, */*"}}, 401, ""},
		{"JSON preferred", "GET", http.Header{"Accept": {"text/html;q=0.5, application/json"}}, 401, ""},
		{"HTML refused", "GET", http.Header{"Accept": {"text/html;q=0, application/json"}}, 401, ""},
		{"another type that begins so", "GET", http.Header{"Accept": {"text/htmlx"}}, 401, ""},
		{"a weight that is none", "GET", http.Header{"Accept": {"text/html;q=x"}}, 401, ""},
		{"a weight beyond one", "GET", http.Header{"Accept": {"text/html;q=7, application/json"}}, 401, ""},

		{"jQuery", "GET", http.Header{"Accept": {"text/html, */*; q=0.01"}, "X-Requested-With": {"XMLHttpRequest"}}, 401, ""},
		{"fetch", "POST", http.Header{"Accept": {"*/*"}, "Sec-Fetch-Mode": {"cors"}}, 401, ""},
		{"a script that deletes", "DELETE", http.Header{"Accept": {"text/html"}}, 401, ""},
		{"WebSocket", "GET", http.Header{"Connection": {"keep-alive, Upgrade"}, "Upgrade": {"websocket"}}, 401, ""},
		{"WebSocket that accepts pages", "GET",
			http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Accept": {chrome}}, 401, ""},
		{"WebSocket over HTTP/2", "CONNECT", http.Header{"Sec-Fetch-Mode": {"websocket"}, "Accept": {chrome}}, 401, ""},
		{"EventSource", "GET", http.Header{"Accept": {"text/event-stream"}}, 401, ""},
		{"a stream that accepts pages", "GET", http.Header{"Accept": {"text/event-stream, text/html"}}, 401, ""},
		{"an upgrade to HTTP/2 that nobody asked for", "GET", http.Header{"Upgrade": {"h2c"}, "Accept": {chrome}}, 303, ""},

		{"a form", "POST", http.Header{"Accept": {chrome}, "Referer": {"https://app.test/private"}}, 303, ""},
		{"Turbo, a form", "PATCH", http.Header{
			"Accept":  {"text/vnd.turbo-stream.html, text/html, application/xhtml+xml"},
			"Referer": {"https://app.test/private"},
		}, 303, ""},
		{"Turbo, a frame", "GET", http.Header{
			"Accept": {"text/html, application/xhtml+xml"}, "Turbo-Frame": {"cart"}, "Referer": {"https://app.test/private"},
		}, 303, ""},
		{"HTMX", "GET",
			http.Header{"Accept": {"*/*"}, "Hx-Request": {"true"}, "Hx-Current-Url": {"https://app.test/private"}}, 401, signIn},
		{"HTMX, a boosted link", "GET", http.Header{
			"Accept": {"text/html, */*"}, "Hx-Request": {"true"}, "Hx-Boosted": {"true"},
			"Hx-Current-Url": {"https://app.test/private"},
		}, 401, signIn},
		{"HTMX, a form", "POST",
			http.Header{"Accept": {"*/*"}, "Hx-Request": {"true"}, "Hx-Current-Url": {"https://app.test/private"}}, 401, signIn},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{})
			target := "/private"
			if row.header.Get("Referer") != "" {
				target = "/part"
			}
			_, refusal := a.Visit(t.Context(), &core.Request{
				Method: row.method, Target: target, Hosts: []string{"app.test"}, Scheme: "https", Header: row.header,
			}).Require()
			if refusal == nil || refusal.Status != row.status || refusal.Header.Get("Hx-Redirect") != row.htmx {
				t.Fatalf("answered %+v", refusal)
			}
			if row.status == 303 && refusal.Redirect != signIn {
				t.Errorf("redirects to %q", refusal.Redirect)
			}
			if row.status == 401 {
				checkChallenge(t, refusal)
			}
			if refusal.Header.Get("Vary") != "Accept, Cookie" || refusal.Header.Get("Cache-Control") == "" {
				t.Errorf("caches are told %v", refusal.Header)
			}
		})
	}
}

func checkChallenge(t *testing.T, r *core.Response) {
	t.Helper()
	var problem struct {
		Type, Title, Detail, Code, Reference string
		Status                               int
	}
	if err := json.Unmarshal(r.Body, &problem); err != nil || problem.Code != "session_required" ||
		problem.Status != 401 || problem.Title != "Unauthorized" || problem.Reference == "" || r.Redirect != "" {
		t.Errorf("the problem is %s, redirect %q", r.Body, r.Redirect)
	}
	h := r.Header
	if h.Get("Www-Authenticate") != `Bearer realm="https://app.test"` ||
		h.Get("Content-Type") != "application/problem+json" || h.Get("Location") != "" {
		t.Errorf("the header is %v", h)
	}
}

// TestForbiddenInTheClientsLanguage: a page where pages are shown, else a problem document.
func TestForbiddenInTheClientsLanguage(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	signIn(t, b)
	never := func(context.Context, *core.Session) error { return core.ErrForbidden }
	for name, row := range map[string]struct {
		method string
		header http.Header
		page   bool
	}{
		"a page":         {"GET", http.Header{"Accept": {"text/html"}}, true},
		"HEAD":           {"HEAD", http.Header{"Accept": {"text/html"}}, true},
		"a form":         {"POST", http.Header{"Accept": {"text/html"}}, true},
		"a Turbo frame":  {"GET", http.Header{"Accept": {"text/html"}, "Turbo-Frame": {"a"}}, true},
		"a boosted link": {"GET", http.Header{"Accept": {"text/html"}, "Hx-Request": {"true"}}, true},
		"HTMX":           {"GET", http.Header{"Accept": {"*/*"}, "Hx-Request": {"true"}}, false},
		"an API":         {"GET", http.Header{"Accept": {"application/json"}}, false},
		"jQuery":         {"GET", http.Header{"Accept": {"text/html"}, "X-Requested-With": {"xmlhttprequest"}}, false},
		"a WebSocket":    {"GET", http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}, false},
		"a stream":       {"GET", http.Header{"Accept": {"text/event-stream"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := b.request(row.method, "/admin", "", "")
			for field, values := range row.header {
				r.Header[field] = values
			}
			_, refusal := a.Visit(t.Context(), r).Require(never)
			if refusal == nil || refusal.Status != 403 || refusal.Header.Get("Location") != "" {
				t.Fatalf("%+v", refusal)
			}
			kind := "application/problem+json"
			if row.page {
				kind = "text/html; charset=utf-8"
			}
			if refusal.Header.Get("Content-Type") != kind || refusal.Header.Get("Vary") != "Accept, Cookie" {
				t.Errorf("answered with %v", refusal.Header)
			}
		})
	}
}

// TestForgottenMount: an application with guards and without auth routes is told so, once, and one with both never.
func TestForgottenMount(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name             string
		mounted, ownPage bool
		warned           int
	}{{"forgotten", false, false, 1}, {"served", true, false, 0}, {"a sign-in page of its own", false, true, 0}} {
		t.Run(row.name, func(t *testing.T) {
			config := core.Config{}
			if row.ownPage {
				config.Pages.SignIn = "/login"
			}
			a := newApp(t, config)
			b := visit(t, a)
			if row.mounted {
				b.get("/auth/signin")
			}
			for range 10 {
				a.Visit(t.Context(), b.pageRequest()).Require()
			}
			if got := strings.Count(a.log.String(), "code=not-mounted"); got != row.warned {
				t.Errorf("warned %d times: %s", got, a.log)
			}
		})
	}
}

// TestForgottenMountAtTheFirstRedirect: without Mount the first redirect warns, and after Mount the third one.
func TestForgottenMountAtTheFirstRedirect(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		mount   bool
		tenants bool
		warned  []int // after each redirect
	}{
		{"forgotten", false, false, []int{1, 1, 1, 1}},
		{"mounted, and nobody requests a route", true, false, []int{0, 0, 1, 1}},
		{"tenants, mounted", true, true, []int{0, 0, 1, 1}},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{})
			auth := a.Auth
			if row.tenants {
				auth = core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) { return a.Auth, nil })
			}
			if row.mount {
				auth.MountPath("")
			}
			b := visit(t, a)
			for i, want := range row.warned {
				auth.Visit(t.Context(), b.pageRequest()).Require()
				if got := strings.Count(a.log.String(), "code=not-mounted"); got != want {
					t.Errorf("redirect %d: warned %d times: %s", i+1, got, a.log)
				}
			}
		})
	}
}

// TestGuardWithoutAConfiguration asks guard and session while the configuration function fails.
func TestGuardWithoutAConfiguration(t *testing.T) {
	t.Parallel()
	good := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	signedIn := visit(t, good)
	signIn(t, signedIn)
	_, faulty := core.New(core.Config{Getenv: func(string) string { return "" }})
	for name, choose := range map[string]func() (*core.Auth, error){
		"an error":               func() (*core.Auth, error) { return nil, errors.New("tenant is unknown") },
		"a faulty configuration": func() (*core.Auth, error) { return nil, faulty },
		"nothing":                func() (*core.Auth, error) { return nil, nil },
		"a panic":                func() (*core.Auth, error) { panic("boom") },
		"an Auth and an error":   func() (*core.Auth, error) { return good.Auth, errors.New("half") },
	} {
		t.Run(name, func(t *testing.T) {
			tenants := core.PerRequest("/auth", func(context.Context, *core.Request) (*core.Auth, error) { return choose() })
			b := visit(t, tenants)
			b.cookies = signedIn.cookies
			for _, accept := range []string{"text/html", "application/json", ""} {
				b.header.Set("Accept", accept)
				v := tenants.Visit(t.Context(), b.request("GET", "/account", "", ""))
				session, refusal := v.Require()
				if session != nil || refusal == nil || refusal.Status != http.StatusInternalServerError {
					t.Errorf("%q: the guard says %+v", accept, refusal)
				}
				if _, err := core.SessionFrom(v); err == nil {
					t.Error("nobody noticed")
				}
				if h := answerOf(v); len(h) > 0 {
					t.Errorf("the hook adds %v", h)
				}
			}
			r := b.get("/auth/session")
			var told core.Session
			if err := told.UnmarshalJSON(r.Body); r.Status != http.StatusInternalServerError ||
				err == nil && (told.User != nil || !told.Expires.IsZero()) {
				t.Errorf("answered %d: %s", r.Status, r.Body)
			}
		})
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	for _, row := range []struct {
		name, method, target, accept string
		status                       int
		location                     string
	}{
		{"browser", "GET", "/account?tab=1", "text/html", 303,
			"https://app.test/auth/signin?error=SessionRequired&callbackUrl=%2Faccount%3Ftab%3D1"},
		{"API client", "GET", "/account", "application/json", 401, ""},
		{"form post", "POST", "/account", "text/html", 303,
			"https://app.test/auth/signin?error=SessionRequired&callbackUrl=%2F"},
		{"target that names a host", "GET", "//evil.example/", "text/html", 303,
			"https://app.test/auth/signin?error=SessionRequired&callbackUrl=%2F"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := visit(t, a)
			b.header.Set("Accept", row.accept)
			_, refusal := a.Visit(t.Context(), b.request(row.method, row.target, "", "")).Require()
			if refusal == nil || refusal.Status != row.status || refusal.Redirect != row.location {
				t.Errorf("got %+v", refusal)
			}
		})
	}
}
