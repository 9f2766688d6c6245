package core_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// withFacts gives the sessions of a town facts.
func withFacts(c *core.Config) { c.Parts = append(c.Parts, asking{}) }

// reauthenticating makes all providers ask for a password at every sign-in.
func reauthenticating(c *core.Config) {
	for _, p := range c.Providers {
		if p, ok := p.(*core.OAuthProvider); ok {
			p.Reauthenticates = core.On
		}
	}
}

// TestMethods checks the methods of a session for each sign-in method.
func TestMethods(t *testing.T) {
	t.Parallel()
	const wantsUser = core.MethodUser
	for name, row := range map[string]struct {
		enter func(w *town, b *browser) *core.Response
		want  []core.Method
	}{
		"a service": {func(w *town, b *browser) *core.Response { return w.through(b, "plain", "1", victim, "") },
			[]core.Method{core.MethodFederated}},
		"a link": {func(w *town, b *browser) *core.Response { return w.byMail(b, victim) },
			[]core.Method{core.MethodMail}},
		"a password": {func(w *town, b *browser) *core.Response {
			w.users["u"] = core.User{ID: "u"}
			return b.submit("/auth/callback/credentials", url.Values{"id": {"u"}})
		}, []core.Method{core.MethodPassword}},
		"a new passkey": {func(w *town, b *browser) *core.Response {
			return w.passkey(b, "action=register&email="+url.QueryEscape(victim), "register", "key")
		}, []core.Method{core.MethodSoftwareKey, wantsUser}},
		"a passkey": {func(w *town, b *browser) *core.Response {
			w.passkey(visit(w.T, w.app), "action=register&email="+url.QueryEscape(victim), "register", "key")
			for id, key := range w.passkeys {
				key.CredentialDeviceType = "singleDevice"
				w.passkeys[id] = key
			}
			return w.passkey(b, "action=authenticate", "authenticate", "key")
		}, []core.Method{core.MethodHardwareKey, wantsUser}},
		"the application's word": {func(w *town, b *browser) *core.Response {
			w.users["u"] = core.User{ID: "u"}
			cookies, err := w.app.NewSession(w.Context(), b.request("POST", "/register", "", ""), &core.User{ID: "u"})
			for _, c := range cookies {
				b.keep(c)
			}
			return &core.Response{Err: err}
		}, nil},
	} {
		for _, strategy := range bothStrategies {
			t.Run(string(strategy)+", "+name, func(t *testing.T) {
				t.Parallel()
				w := newTown(t, power{true, true, true, true}, strategy, withFacts)
				b := w.browser()
				if r := row.enter(w, b); r.Err != nil {
					t.Fatal(r.Err)
				}
				authTime := start
				if strings.Contains(name, "application's word") {
					authTime = time.Time{}
				}
				if s := b.session(); s == nil || !slices.Equal(s.Methods, row.want) || !s.AuthTime.Equal(authTime) {
					t.Errorf("%+v", s)
				}
			})
		}
	}
}

// TestProofsAgain signs in with a provider while a user is signed in. With the user's own account this is a new
// authentication and a new session. Another account is linked, which is no authentication.
func TestProofsAgain(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		for _, tx := range []bool{true, false} {
			t.Run(string(strategy)+map[bool]string{true: ", transactions"}[tx], func(t *testing.T) {
				t.Parallel()
				w := newTown(t, power{tx, true, true, true}, strategy, withFacts, reauthenticating)
				b := w.browser()
				w.signedIn(b, w.through(b, "plain", "1", victim, ""))
				first, copied := b.session(), visit(t, w.app)
				copied.cookies[sessionCookie] = b.cookies[sessionCookie]

				w.app.clock.Advance(time.Hour)
				w.signedIn(b, w.through(b, "open", "2", stranger, ""))
				linked := b.session()
				if linked.UserID != first.UserID || linked.ID != first.ID || !linked.AuthTime.Equal(start) ||
					!slices.Equal(linked.Methods, first.Methods) {
					t.Errorf("another account was linked: %+v, before %+v", linked, first)
				}

				w.app.clock.Advance(time.Hour)
				w.signedIn(b, w.through(b, "plain", "1", victim, ""))
				again := b.session()
				if again.UserID != first.UserID || again.ID == first.ID || !again.AuthTime.Equal(start.Add(2*time.Hour)) {
					t.Errorf("proved again: %+v", again)
				}
				if strategy == core.StrategyDatabase && (copied.session() != nil || len(w.sessions) != 1) {
					t.Errorf("the session of before is still there, %d are", len(w.sessions))
				}
			})
		}
	}
}

// TestFactsAndTheAbsoluteEnd checks Session.AbsoluteMaxAge for tokens with and without facts.
func TestFactsAndTheAbsoluteEnd(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			limit := func(c *core.Config) { c.Session.AbsoluteMaxAge = 40 * 24 * time.Hour }
			a, h := factual(t, strategy, limit)
			b := signedIn(t, a, "1")
			plain := newApp(t, core.Config{
				Store: h, Session: core.SessionConfig{Strategy: strategy, AbsoluteMaxAge: 40 * 24 * time.Hour}, Now: a.clock.Now,
			})
			for range 3 {
				a.clock.Advance(13 * 24 * time.Hour)
				if b.session() == nil {
					t.Fatal("ended early")
				}
				b.auth = plain // without facts
			}
			a.clock.Advance(26 * time.Hour)
			if s := b.session(); s != nil {
				t.Errorf("lasts beyond the end: %+v", s)
			}
		})
	}
}
