package secondfactor_test

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestLinking: a session from before the enrollment cannot link an account or add a passkey. With the second factor it
// can.
func TestLinking(t *testing.T) {
	s := newSite(t, setup{configure: withPasskeys})
	stale := s.as(ada)
	p := s.as(ada).enroll()
	link := func() *core.Response {
		r := stale.post("signin/hub", nil)
		u, err := url.Parse(r.Redirect)
		s.must(err)
		query := url.Values{"code": {"mallory@example.com"}, "state": {u.Query().Get("state")}}
		return stale.open("callback/hub?" + query.Encode())
	}
	accounts := func() int {
		all, err := s.store.Accounts(t.Context(), "ada")
		s.must(err)
		return len(all)
	}
	if r := link(); r.Redirect != origin+"/auth/second-factor/verify" || accounts() != 1 {
		t.Errorf("linking: %d %s, %d accounts", r.Status, r.Redirect, accounts())
	}
	stale.ask("webauthn-options/passkey?action=register")
	form := url.Values{"action": {"register"}, "data": {credential("mallorys")}}
	if r := stale.post("callback/passkey", form); r.Redirect != origin+"/auth/second-factor/verify" {
		t.Errorf("a passkey: %d %s", r.Status, r.Redirect)
	}
	if keys, err := s.store.Authenticators(t.Context(), "ada"); err != nil || len(keys) != 0 {
		t.Errorf("%d passkeys were added, %v", len(keys), err)
	}
	s.wait(time.Minute)
	stale.fine(stale.call("second-factor/verify", "code", p.code(0)), http.StatusOK, nil)
	if link(); accounts() != 2 {
		t.Errorf("after the second factor there are %d accounts", accounts())
	}
}

// TestNewSession: the application can ask for the second factor when it creates a session.
func TestNewSession(t *testing.T) {
	for _, strategy := range strategies {
		s := newSite(t, setup{strategy: strategy})
		p := s.as(ada).enroll()
		s.wait(time.Minute)
		r := &core.Request{Method: "GET", Target: "/", Hosts: []string{"app.example"}, Scheme: "https"}
		user, err := s.store.User(t.Context(), "ada")
		s.must(err)
		cookies, err := s.auth.NewSession(t.Context(), r, user, core.SessionOptions{AskGates: true})
		var held *core.HeldError
		if !errors.As(err, &held) || held.URL != origin+"/auth/second-factor" {
			t.Fatalf("%s: %v", strategy, err)
		}
		b := s.browse()
		for _, c := range cookies {
			b.cookies[c.Name] = c.Value
		}
		if b.signedIn() {
			t.Errorf("%s: there is a session before the factor", strategy)
		}
		b.fine(b.call("second-factor", "code", p.code(0)), http.StatusOK, nil)
		if !b.signedIn() {
			t.Errorf("%s: no session after the factor", strategy)
		}
	}
}
