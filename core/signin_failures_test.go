package core_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// failsAt makes a method of the store panic, after the method after was called, or at once if after is empty. failed is
// set when it does.
func (p *people) failsAt(method, after string) (failed *bool) {
	failed = new(bool)
	begun := after == ""
	p.at = func(m string) {
		if begun && m == method {
			*failed = true
			panic("the store is down")
		}
		begun = begun || m == after
	}
	return failed
}

// TestPendingSignInAfterFailures: if the store fails while a pending sign-in is completed, the same request completes
// it later.
func TestPendingSignInAfterFailures(t *testing.T) {
	for call, strategies := range map[string][]core.Strategy{
		"User": bothStrategies, "CreateSession": {core.StrategyDatabase},
	} {
		for _, strategy := range strategies {
			t.Run(string(strategy)+" "+call, func(t *testing.T) {
				w, _, _ := changedTown(t, strategy, func(*core.Config) {}, &toyFactor{name: "toyfactor"})
				w.users["u1"] = core.User{ID: "u1", Name: "Ada", Email: "u1@x.example", EmailVerified: start}
				b := w.browser()
				b.submit("/auth/direct", nil)
				b.csrf()
				failed := w.failsAt(call, "")
				r := b.submit("/auth/toyfactor", url.Values{"code": {"123456"}})
				w.at = nil
				if !*failed || r.Status < 500 || w.who(b) != "" {
					t.Errorf("failed %t, answered %d %s", *failed, r.Status, r.Body)
				}
				if r := b.submit("/auth/toyfactor", url.Values{"code": {"123456"}}); w.who(b) != "u1" {
					t.Errorf("the second attempt is answered %d %s", r.Status, r.Body)
				}
				if w.who(b) == "u1" {
					b.submit("/auth/signout", nil)
				}
				if b.submit("/auth/toyfactor", url.Values{"code": {"123456"}}); w.who(b) != "" {
					t.Error("the sign-in is completed twice")
				}
			})
		}
	}
}

// TestEmailSignInAfterFailures: if the store fails after the token of a sign-in link was used, the link and the code in
// the email work later.
func TestEmailSignInAfterFailures(t *testing.T) {
	for call, address := range map[string]string{
		"UserByEmail": "1@example.com", "CreateUser": "new@example.com", "CreateSession": "1@example.com",
	} {
		for _, how := range []string{"link", "code"} {
			t.Run(how+" "+call, func(t *testing.T) {
				a, mails, h := newCodeSite(t, core.StrategyDatabase)
				b := visit(t, a)
				code, link := b.asksForCode(mails, address)
				b.csrf()
				signIn := func() *core.Response { return b.get(link) }
				if how == "code" {
					signIn = func() *core.Response { return b.submit("/auth/callback/email", url.Values{"code": {code}}) }
				}
				failed := h.people.failsAt(call, "UseVerificationToken")
				r := signIn()
				h.people.at = nil
				if !*failed || b.who() != "" {
					t.Errorf("failed %t, answered %d %s", *failed, r.Status, r.Redirect)
				}
				if r := signIn(); b.who() == "" {
					t.Errorf("the second attempt is answered %d %s", r.Status, r.Redirect)
				}
				b.submit("/auth/signout", nil)
				b.get(link)
				if b.submit("/auth/callback/email", url.Values{"code": {code}}); b.who() != "" {
					t.Error("the email signs in twice")
				}
			})
		}
	}
}

// TestReauthCodeAfterFailure: if the store fails after a code was checked, the code works later.
func TestReauthCodeAfterFailure(t *testing.T) {
	a, mails, h := newCodes(t, core.StrategyDatabase)
	b := signedIn(t, a, "1")
	b.submit("/auth/reauth?callbackUrl=/vault", nil)
	code := mails.last()
	b.csrf()
	failed := h.people.failsAt("CreateSession", "")
	r := b.submit("/auth/reauth?callbackUrl=/vault", url.Values{"code": {code}})
	h.people.at = nil
	if !*failed || r.Status < 500 {
		t.Errorf("failed %t, answered %d %s", *failed, r.Status, r.Redirect)
	}
	r = b.submit("/auth/reauth?callbackUrl=/vault", url.Values{"code": {code}})
	if !strings.Contains(r.Redirect+string(r.Body), "https://app.test/vault") {
		t.Errorf("the second attempt is answered %d %s", r.Status, r.Redirect)
	}
}
