package core_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// TestUnknownAddresses: a browser gets a page with status 404, other clients what Auth.js responds.
func TestUnknownAddresses(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	const html = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, row := range []struct {
		method, path, accept string
		status               int
	}{
		{"GET", "/auth/nowhere", html, 404},
		{"GET", "/auth/signin/x/y", html, 404},
		{"GET", "/elsewhere/signin", html, 404}, // mounted at another path than BasePath
		{"GET", "/auth", html, 404},
		{"GET", "/auth/nowhere", "*/*", 400},
		{"GET", "/auth/nowhere", "application/json", 400},
		{"GET", "/auth/nowhere", "text/html;q=0.1, application/json", 400},
		{"GET", "/auth/nowhere", "", 400},
		{"POST", "/auth/nowhere", html, 400},
	} {
		b := visit(t, a)
		b.header.Set("Accept", row.accept)
		r := a.Handle(t.Context(), b.request(row.method, row.path, "", ""))
		page := strings.HasPrefix(r.Header.Get("Content-Type"), "text/html")
		if r.Status != row.status || page != (row.status == 404) || len(r.Cookies) > 0 {
			t.Errorf("%s %s for %q: %d %s", row.method, row.path, row.accept, r.Status, r.Body)
		}
		if !page {
			if string(r.Body) != `"Bad request."` {
				t.Errorf("%s %s for %q: %s", row.method, row.path, row.accept, r.Body)
			}
			continue
		}
		for _, part := range []string{
			"Page not found", `href="https://app.test/auth/signin"`, `href="https://app.test"`,
		} {
			if !strings.Contains(string(r.Body), part) {
				t.Errorf("%s: the page lacks %q: %s", row.path, part, r.Body)
			}
		}
		if r.Header.Get("Content-Security-Policy") == "" || !strings.Contains(r.Header.Get("Vary"), "Accept") {
			t.Errorf("%s: header %v", row.path, r.Header)
		}
	}
	if log := a.log.String(); strings.Contains(log, "level=ERROR") || !strings.Contains(log, "Set BasePath") {
		t.Errorf("the log is %s", log)
	}
	foreign := &core.Request{Method: "GET", Target: "/auth/nowhere", Hosts: []string{"<evil>"}, Scheme: "http",
		Header: http.Header{"Accept": {html}}}
	hosts := newApp(t, core.Config{URL: "", TrustHost: core.True, Providers: []core.Provider{passwords()}})
	if r := hosts.Handle(t.Context(), foreign); r.Status != 404 || strings.Contains(string(r.Body), "evil") {
		t.Errorf("a host that is none: %d %s", r.Status, r.Body)
	}
}

// TestForbiddenPage checks that the page shows the signed-in user and offers to use another account, with a form that
// works.
func TestForbiddenPage(t *testing.T) {
	t.Parallel()
	never := func(context.Context, *core.Session) error { return core.ErrForbidden }
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	signIn(t, b)
	b.header.Set("Accept", "text/html")
	for _, row := range []struct{ name, referer, back string }{
		{"from nowhere", "", "https://app.test"},
		{"from a page of this site", "https://app.test/orders?page=2", "https://app.test/orders?page=2"},
		{"from another site", "https://evil.test/admin", "https://app.test"},
		{"from the same page", "https://app.test/admin?x=1", "https://app.test"},
		{"from the sign-in page", "https://app.test/auth/signin?error=SessionRequired", "https://app.test"},
		{"from what is no address", "javascript:alert(1)", "https://app.test"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := b.request("GET", "/admin?x=1", "", "")
			if row.referer != "" {
				r.Header.Set("Referer", row.referer)
			}
			_, refusal := a.Visit(t.Context(), r).Require(never)
			if refusal == nil || refusal.Status != http.StatusForbidden {
				t.Fatalf("responded %+v", refusal)
			}
			for _, part := range []string{
				"You don&#39;t have access to this page", "ada@example.com", "Go back", "Use a different account",
				`class="button" href="` + row.back + `"`, `action="https://app.test/auth/signout"`, `value="/admin?x=1"`,
			} {
				if !strings.Contains(string(refusal.Body), part) {
					t.Errorf("the page lacks %q: %s", part, refusal.Body)
				}
			}
			if strings.Contains(string(refusal.Body), "evil") {
				t.Errorf("the page has the other site: %s", refusal.Body)
			}
		})
	}
	r := b.submit("/auth/signout", url.Values{"callbackUrl": {"/admin?x=1"}})
	if r.Redirect != "https://app.test/admin?x=1" || b.session() != nil {
		t.Errorf("the form redirects to %q", r.Redirect)
	}
}

// TestNoTenant: a request for an unknown tenant has status 404 and causes a limited number of log messages.
func TestNoTenant(t *testing.T) {
	t.Parallel()
	log, clock := &bytes.Buffer{}, newClock()
	tenants := core.PerRequest("/auth", func(_ context.Context, r *core.Request) (*core.Auth, error) {
		if r.Hosts[0] == "broken.test" {
			return nil, errors.New("the database is down")
		}
		return nil, fmt.Errorf("host %q: %w", r.Hosts[0], core.ErrNoTenant)
	}, core.PerRequestOptions{Logger: slog.New(slog.NewTextHandler(log, nil)), Now: clock.Now})
	request := func(method, path, accept string) *core.Request {
		return &core.Request{Method: method, Target: path, Hosts: []string{"evil.test"}, Scheme: "http",
			Header: http.Header{"Accept": {accept}}}
	}
	for _, row := range []struct {
		name, accept, kind string
		ask                func(*core.Request) *core.Response
		method, path       string
	}{
		{"an auth route, page", "text/html", "text/html",
			func(r *core.Request) *core.Response { return tenants.Handle(t.Context(), r) }, "GET", "/auth/signin"},
		{"an auth route, JSON", "*/*", "application/json",
			func(r *core.Request) *core.Response { return tenants.Handle(t.Context(), r) }, "GET", "/auth/session"},
		{"an unknown address", "text/html", "text/html",
			func(r *core.Request) *core.Response { return tenants.Handle(t.Context(), r) }, "GET", "/auth/nowhere"},
		{"a form action", "text/html", "text/html",
			func(r *core.Request) *core.Response { return tenants.SignIn(t.Context(), r) }, "POST", "/signin"},
		{"a component call", "application/json", "application/json", func(r *core.Request) *core.Response {
			return tenants.SignInWith(t.Context(), r, &core.SignInInput{})
		}, "POST", "/signin"},
		{"a guarded page", "text/html", "text/html", func(r *core.Request) *core.Response {
			_, refusal := tenants.Visit(t.Context(), r).Require()
			return refusal
		}, "GET", "/private"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := row.ask(request(row.method, row.path, row.accept))
			if r == nil || r.Status != http.StatusNotFound || !strings.HasPrefix(r.Header.Get("Content-Type"), row.kind) ||
				strings.Contains(string(r.Body), "evil") || !errors.Is(r.Err, core.ErrNoTenant) {
				t.Errorf("responded %+v: %s", r, r.Body)
			}
		})
	}
	visit := tenants.Visit(t.Context(), request("GET", "/", "text/html"))
	if _, err := ui.CurrentVisitor(visit); !errors.Is(err, core.ErrNoTenant) || strings.Contains(err.Error(), "mount") {
		t.Errorf("a component says %v", err)
	}
	if _, err := core.SessionFrom(visit); !errors.Is(err, core.ErrNoTenant) {
		t.Errorf("the session: %v", err)
	}
	for range 1000 {
		tenants.Handle(t.Context(), request("GET", "/auth/session", "*/*"))
		tenants.Visit(t.Context(), request("GET", "/", "*/*"))
	}
	if lines := strings.Count(log.String(), "\n"); lines < 1 || lines > 20 || strings.Contains(log.String(),
		"level=ERROR") {
		t.Errorf("%d lines: %.2000s", lines, log)
	}
	log.Reset()
	clock.Advance(61e9)
	tenants.Handle(t.Context(), request("GET", "/auth/session", "*/*"))
	broken := request("GET", "/auth/session", "*/*")
	broken.Hosts = []string{"broken.test"}
	if r := tenants.Handle(t.Context(), broken); r.Status != http.StatusInternalServerError {
		t.Errorf("a failing function: %d", r.Status)
	}
	if !strings.Contains(log.String(), "level=INFO") || !strings.Contains(log.String(), "the database is down") {
		t.Errorf("the log of the next minute is %s", log)
	}
}

// TestPeersThatAreNotLocal: without a configured origin, the log names the peer of a request with an untrusted host.
func TestPeersThatAreNotLocal(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{TrustHost: core.False, Providers: []core.Provider{passwords()}})
	a.Handle(t.Context(), &core.Request{
		Method: "GET", Target: "/auth/session", Hosts: []string{"localhost"}, Scheme: "http", RemoteAddr: "203.0.113.7:1234",
	})
	if log := a.log.String(); !strings.Contains(log, "203.0.113.7") || !strings.Contains(log, "RemoteAddr") {
		t.Errorf("the log is %s", log)
	}
}
