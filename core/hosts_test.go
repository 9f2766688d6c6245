package core_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// actions are all requests that an action answers.
var actions = []struct{ method, path string }{
	{"GET", "session"}, {"GET", "csrf"}, {"GET", "providers"}, {"GET", "signin"}, {"GET", "signout"}, {"GET", "error"}, {"GET", "verify-request"}, {"GET", "callback/op"},
	{"GET", "callback/credentials"}, {"POST", "callback/op"}, {"POST", "callback/credentials"}, {"POST", "signin"}, {"POST", "signin/op"}, {"POST", "signout"}, {"POST", "session"},
}

// TestNoHostIsTrusted asks everything of an application that trusts no host (ATTACKS HO8).
func TestNoHostIsTrusted(t *testing.T) {
	t.Parallel()
	const canary = "canary-host.example"
	a := newApp(t, core.Config{TrustHost: core.Off, Providers: []core.Provider{passwords(), (&service{}).provider("op")}, Pages: core.PagesConfig{NewUser: "/welcome"}})
	for _, action := range actions {
		a.log.Reset()
		b := visit(t, a)
		b.origin = "https://" + canary
		b.header.Set("X-Forwarded-Host", canary)
		b.header.Set("X-Forwarded-Proto", "https")
		b.header.Set("Accept", "text/html")
		r := b.send(action.method, "/auth/"+action.path+"?callbackUrl=%2Fx", "application/x-www-form-urlencoded", "csrfToken=x")
		if r.Status != 500 || len(r.Cookies) > 0 || r.Redirect != "" {
			t.Errorf("%s %s: answered %d to %q, %d cookies", action.method, action.path, r.Status, r.Redirect, len(r.Cookies))
		}
		all := string(r.Body)
		for name, values := range r.Header {
			all += name + strings.Join(values, "")
		}
		if strings.Contains(all, canary) {
			t.Errorf("%s %s: the host came back: %s", action.method, action.path, all)
		}
		if lines := strings.Count(a.log.String(), "\n"); lines != 1 || !strings.Contains(a.log.String(), "UntrustedHost") {
			t.Errorf("%s %s: logged %s", action.method, action.path, a.log)
		}
	}
	b := visit(t, a)
	b.origin = "https://" + canary
	v := core.Begin(t.Context(), a, b.request("GET", "/page", "", ""))
	if _, refusal := v.Require(); refusal == nil || refusal.Status != 500 {
		t.Errorf("the guard says %+v", refusal)
	}
	if h := answerOf(v); len(h) > 0 {
		t.Errorf("the hook adds %v", h)
	}
	if token, err := a.GetToken(t.Context(), b.request("GET", "/", "", "")); token != nil || !errors.Is(err, core.UntrustedHost) {
		t.Errorf("a token under a host that nobody trusts: %v, %v", token, err)
	}
}

// TestSecureNamesOnly presents a session under the other name while a header claims plain http (ATTACKS HO4).
func TestSecureNamesOnly(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]core.Config{"pinned": {URL: "https://app.test"}, "forced": {TrustHost: core.On, UseSecureCookies: core.On}} {
		config.Providers = []core.Provider{passwords()}
		a := newApp(t, config)
		for _, row := range []struct {
			cookie, salt string
			ok           bool
		}{
			{sessionCookie, sessionCookie, true},
			{"authjs.session-token", "authjs.session-token", false},
			{"authjs.session-token", sessionCookie, false},
			{sessionCookie, "authjs.session-token", false},
		} {
			token, err := a.EncodeToken(&core.Token{Subject: "1", Name: "Ada"}, row.salt, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			b := visit(t, a)
			b.header.Set("X-Forwarded-Proto", "http")
			b.cookies[row.cookie] = token
			if got := string(b.get("/auth/session").Body) != "null"; got != row.ok {
				t.Errorf("%s: sealed as %s, sent as %s: signed in %v", name, row.salt, row.cookie, got)
			}
			if row.ok && b.cookies["authjs.session-token"] != "" {
				t.Errorf("%s: the session is set without its prefix", name)
			}
		}
	}
}
