package core_test

import (
	"context"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// verifies is a plugin that verifies the address of a user, as a link that was sent there does.
func verifies() core.Plugin {
	return partFunc(func(h *core.PluginHost) error {
		h.VerifiesEmail()
		h.AddAction(core.Action{Method: "POST", Name: "prove",
			Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
				return c.Redirect("/"), c.MarkEmailVerified(ctx, c.Field("id"), victim)
			}})
		return nil
	})
}

// TestVerificationEndsEarlierSessions: an attacker creates a user with the victim's address and keeps the cookie. When
// the victim verifies the address, the cookie must have no session, or a session of another user than the victim. This
// holds for every method that started the session or verified the address. Password resets are tested in
// providers/password TestResetEndsSessionsOfUnverifiedAddress.
func TestVerificationEndsEarlierSessions(t *testing.T) {
	t.Parallel()
	sources := map[string]func(w *town, b *browser) string{
		"provider account": func(w *town, b *browser) string {
			return w.signedIn(b, w.through(b, "plain", "s1", victim, ""))
		},
		"provider account, as a known user": func(w *town, b *browser) string {
			first := w.browser()
			w.signedIn(first, w.through(first, "plain", "s1", victim, ""))
			return w.signedIn(b, w.through(b, "plain", "s1", victim, ""))
		},
		"passkey": func(w *town, b *browser) string {
			return w.signedIn(b, w.passkey(b, "action=register&email="+victim, "register", "key"))
		},
		"password": func(w *town, b *browser) string {
			w.users["u1"] = core.User{ID: "u1", Email: victim}
			return w.signedIn(b, b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}}))
		},
		"NewSession": func(w *town, b *browser) string { return w.made(b) },
	}
	verifications := map[string]func(w *town, id string) string{
		"link": func(w *town, _ string) string {
			b := w.browser()
			return w.signedIn(b, w.byMail(b, victim))
		},
		"provider": func(w *town, _ string) string {
			b := w.browser()
			return w.signedIn(b, w.through(b, "linking", "p1", victim, vouched))
		},
		"plugin": func(w *town, id string) string {
			if r := w.browser().submit("/auth/prove", url.Values{"id": {id}}); r.Err != nil {
				w.Fatal(r.Err)
			}
			return id
		},
	}
	for source, begin := range sources {
		for verification, verify := range verifications {
			for name, session := range map[string]core.SessionConfig{
				"database":        {Strategy: core.StrategyDatabase},
				"jwt":             {Strategy: core.StrategyJWT},
				"jwt, revocation": {Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.True}},
			} {
				t.Run(name+"/"+verification+"/"+source, func(t *testing.T) {
					t.Parallel()
					w := newTown(t, power{}, session.Strategy, func(c *core.Config) {
						c.Session = session
						c.Store, _ = c.Store.(struct{ least }).least.(*people).records()
						c.Providers[4].(*core.WebAuthnProvider).InsecureTypedEmail = true
						c.Plugins = []core.Plugin{verifies()}
					})
					attacker := w.browser()
					old := begin(w, attacker)
					w.app.clock.Advance(time.Minute)
					owner := verify(w, old)
					if u := w.users[owner]; u.Email != victim || u.EmailVerified.IsZero() {
						t.Fatalf("the address is not verified: %v", u)
					}
					copied := w.browser()
					for name, value := range attacker.cookies {
						copied.cookies[name] = value
					}
					w.app.clock.Advance(time.Minute)
					if who := w.who(attacker); who == owner {
						t.Error("the attacker's session is that of the owner of the address")
					}
					if token, err := w.app.Token(t.Context(), copied.request("GET", "/", "", "")); err != nil ||
						token != nil && token.Subject == owner {
						t.Errorf("the attacker's token is that of the owner of the address: %v", err)
					}
				})
			}
		}
	}
}

// TestVerificationEndsTokensOfAuthJS: a token that Auth.js issued does not say whether the address was verified. With
// Revocation it ends with the verification all the same.
func TestVerificationEndsTokensOfAuthJS(t *testing.T) {
	t.Parallel()
	for name, verify := range map[string]func(w *town) *core.Response{
		"link":   func(w *town) *core.Response { return w.byMail(w.browser(), victim) },
		"plugin": func(w *town) *core.Response { return w.browser().submit("/auth/prove", url.Values{"id": {"u1"}}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t, power{}, core.StrategyJWT, func(c *core.Config) {
				c.Session.Revocation.On = core.True
				c.Store, _ = c.Store.(struct{ least }).least.(*people).records()
				c.Plugins = []core.Plugin{verifies()}
			})
			w.users["u1"] = core.User{ID: "u1", Email: victim}
			value, err := w.app.EncodeToken(&core.Token{Subject: "u1", Email: victim}, sessionCookie, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			attacker := w.browser()
			attacker.cookies[sessionCookie] = value
			if who := w.who(attacker); who != "u1" {
				t.Fatalf("signed in as %q", who)
			}
			if r := verify(w); r.Err != nil {
				t.Fatal(r.Err)
			}
			attacker.cookies[sessionCookie] = value
			if who := w.who(attacker); who == "u1" && !w.users["u1"].EmailVerified.IsZero() {
				t.Error("the session still belongs to the owner of the address")
			}
		})
	}
}

// TestFirstVerificationIsKept: EmailVerified is when the user first verified the address, however often they sign in
// with a link.
func TestFirstVerificationIsKept(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			w := newTown(t, power{true, true, true, true}, strategy)
			b := w.browser()
			id := w.signedIn(b, w.byMail(b, victim))
			first := w.users[id].EmailVerified
			for range 2 {
				w.app.clock.Advance(24 * time.Hour)
				b := w.browser()
				if again := w.signedIn(b, w.byMail(b, victim)); again != id {
					t.Fatalf("signed in as %q", again)
				}
				if at := w.users[id].EmailVerified; first.IsZero() || !at.Equal(first) {
					t.Errorf("verified at %v, first at %v", at, first)
				}
			}
		})
	}
}

// TestAddedMethods: for a month, a linked account and a passkey are listed with the time when they were added. The user
// gets an email, unless the user is new.
func TestAddedMethods(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			var host *core.PluginHost
			var mu sync.Mutex
			var told []core.Email
			w := newTown(t, power{}, strategy, func(c *core.Config) {
				c.Store, _ = c.Store.(struct{ least }).least.(*people).records()
				c.Plugins = []core.Plugin{partFunc(func(h *core.PluginHost) error {
					host = h
					h.EndsSessions()
					h.NotifyMethodChanges("account", mailerFunc(func(_ context.Context, l core.Email) error {
						mu.Lock()
						defer mu.Unlock()
						told = append(told, l)
						return nil
					}))
					return nil
				})}
			})
			b := w.browser()
			id := w.signedIn(b, w.byMail(b, victim))
			w.app.clock.Advance(time.Hour)
			w.signedIn(b, w.through(b, "plain", "s1", victim, ""))
			w.app.clock.Advance(time.Hour)
			w.signedIn(b, w.passkey(b, "action=register", "register", "key"))
			other := w.browser()
			w.signedIn(other, w.through(other, "vouching", "s2", stranger, vouched))
			if err := w.app.FlushMail(t.Context()); err != nil {
				t.Error(err)
			}
			slices.SortFunc(told, func(x, y core.Email) int { return x.At.Compare(y.At) })
			if len(told) != 2 || told[0].Kind != mailkind.AccountLinked || told[0].Service != "plain" ||
				told[1].Kind != mailkind.PasskeyAdded || told[1].To != victim ||
				string(told[1].URL) != "https://app.test/auth/account" {
				t.Errorf("emails: %v", told)
			}
			all, err := host.SignInMethods(t.Context(), id)
			if err != nil || len(all) != 2 {
				t.Fatalf("%d methods, %v", len(all), err)
			}
			for i, want := range []core.SignInMethod{
				{Provider: "plain", Added: start.Add(time.Hour)},
				{Provider: "passkey", Passkey: true, Added: start.Add(2 * time.Hour)},
			} {
				if m := all[i]; m.Provider != want.Provider || m.Passkey != want.Passkey || !m.Added.Equal(want.Added) {
					t.Errorf("listed is %+v, want %+v", m, want)
				}
			}
			w.app.clock.Advance(31 * 24 * time.Hour)
			if later, _ := host.SignInMethods(t.Context(), id); len(later) != 2 || !later[0].Added.IsZero() {
				t.Errorf("a month later: %+v", later)
			}
			removed, err := host.RemoveSignInMethods(t.Context(), id,
				func(m core.SignInMethod) bool { return m.ID == all[1].ID })
			if err != nil || len(removed) != 1 || !removed[0].Passkey {
				t.Errorf("removed %+v, %v", removed, err)
			}
			if left, _ := host.SignInMethods(t.Context(), id); len(left) != 1 || left[0].Provider != "plain" {
				t.Errorf("left are %+v", left)
			}
		})
	}
}
