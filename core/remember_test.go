package core_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

const rememberCookie = "__Host-latchkey.remember"

// remembers switches the option on.
func remembers(c *core.Config) {
	c.Session.RememberMe = true
	c.Session.ShortMaxAge = 8 * time.Hour
	c.Cookies.SessionToken.MaxAge = 30 * 24 * time.Hour
}

// withAda adds a user with a passkey to a town.
func (w *town) withAda() {
	const credential = "a2V5"
	w.users["u1"] = core.User{ID: "u1", Name: "Ada", Email: "u1@x.example", EmailVerified: start}
	w.passkeys[credential] = store.Authenticator{
		CredentialID: credential, UserID: "u1", ProviderAccountID: credential, CredentialPublicKey: "a2V5",
	}
	w.accounts[accountKey("passkey", credential)] = core.Account{
		UserID: "u1", Type: core.TypeWebAuthn, Provider: "passkey", ProviderAccountID: credential,
	}
}

// lasts compares whether the last session cookie of a browser survives a restart of the browser with want.
func (b *browser) lasts(when string, want bool) {
	b.t.Helper()
	c, there := b.set[sessionCookie]
	if !there || c.HasMaxAge != want || c.Expires.IsZero() == want {
		b.t.Errorf("%s: the session cookie has the lifetime %d, %t, %v", when, c.MaxAge, c.HasMaxAge, c.Expires)
	}
	delete(b.set, sessionCookie) // the next check is for the next one
}

// TestRememberMe signs in by each method, with and without the checkbox, with and without a gate. The cookie survives a
// restart of the browser only with it, also after renewals, and only then the session lasts Session.MaxAge.
func TestRememberMe(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		for _, signInCase := range signInCases {
			for name, row := range map[string]struct {
				posted        string
				lasts, gated  bool
				replacesToken bool
			}{
				"selected":               {posted: "1", lasts: true},
				"not selected":           {},
				"not selected, a script": {posted: "0"},
				"selected, a gate":       {posted: "on", lasts: true, gated: true},
				"not selected, a gate":   {gated: true},
				"a new token":            {replacesToken: true},
			} {
				t.Run(string(strategy)+" "+signInCase.name+" "+name, func(t *testing.T) {
					t.Parallel()
					var factors []*toyFactor
					if row.gated {
						factors = []*toyFactor{{name: "toyfactor"}}
					}
					w, _, _ := changedTown(t, strategy, func(c *core.Config) {
						remembers(c)
						if row.replacesToken && strategy == core.StrategyJWT {
							c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
								return &core.Token{Subject: p.Token.Subject, Email: p.Token.Email}, nil
							}
						}
					}, factors...)
					w.withAda()
					b := w.browser()
					if row.posted != "" {
						b.fields = url.Values{"rememberMe": {row.posted}}
					}
					r := signInCase.in(w, b)
					b.fields = nil
					if row.gated {
						r = b.submit("/auth/toyfactor", url.Values{"code": {"123456"}})
					}
					if r.Err != nil {
						t.Fatal(r.Err)
					}
					b.lasts("sign-in", row.lasts)
					if b.cookies[rememberCookie] != "" {
						t.Error("the choice is kept after the sign-in")
					}
					for range 3 { // each use extends the session
						w.app.clock.Advance(7 * time.Hour)
						if w.who(b) == "" {
							t.Fatal("a used session has ended")
						}
					}
					if row.lasts {
						w.app.clock.Advance(24 * time.Hour)
						w.who(b)
					}
					b.lasts("renewal", row.lasts)
					b.submit("/auth/session", url.Values{"data": {"x"}})
					b.lasts("update", row.lasts)
					w.app.clock.Advance(9 * time.Hour)
					if in := w.who(b) != ""; in != row.lasts {
						t.Errorf("signed in after 9 hours: %t", in)
					}
				})
			}
		}
	}
}

// TestRememberMeOff posts the field without the option. Nothing changes.
func TestRememberMeOff(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		w := newTown(t, power{}, strategy)
		w.users["u1"] = core.User{ID: "u1"}
		b := w.browser()
		r := b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}, "rememberMe": {"1"}})
		if got := b.set[sessionCookie].Expires; !got.Equal(start.Add(30 * 24 * time.Hour)) {
			t.Errorf("%s: the cookie expires at %v", strategy, got)
		}
		b.submit("/auth/signin/plain", url.Values{"rememberMe": {"1"}})
		if len(r.Cookies) != 1 || b.cookies[rememberCookie] != "" {
			t.Errorf("%s: cookies %+v", strategy, r.Cookies)
		}
	}
}

// TestRememberMeIsTheUsersChoice tries to have a session remembered without the user: with a form of another site, and
// with the choice of an earlier user of the same browser.
func TestRememberMeIsTheUsersChoice(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			w, _, _ := changedTown(t, strategy, remembers)
			w.withAda()

			b := w.browser()
			b.csrf()
			b.header.Set("Origin", "https://evil.example")
			b.post("/auth/signin/plain", url.Values{"rememberMe": {"1"}})
			if b.cookies[rememberCookie] != "" {
				t.Error("another site chose for the user")
			}
			b.header.Del("Origin")

			b.submit("/auth/signin/plain", url.Values{"rememberMe": {"1"}}) // and the user leaves
			if c := b.set[rememberCookie]; c.Value != "1" || !c.HTTPOnly || c.MaxAge != 24*60*60 {
				t.Errorf("the choice is in %+v", c)
			}
			b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}})
			b.lasts("a form without the checkbox", false)
			if b.cookies[rememberCookie] != "" {
				t.Error("the choice is kept for the next user")
			}

			b = w.browser()
			b.submit("/auth/signin/plain", url.Values{"rememberMe": {"1"}})
			b.submit("/auth/signin/plain", url.Values{"rememberMe": {"0"}})
			if b.cookies[rememberCookie] != "" {
				t.Error("a changed mind is ignored")
			}
		})
	}
}

// TestRememberMeOfSessions covers sessions that start or continue without a sign-in form.
func TestRememberMeOfSessions(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		for _, remember := range []bool{true, false} {
			name := map[bool]string{true: " remembered", false: " short"}[remember]
			t.Run(string(strategy)+name, func(t *testing.T) {
				t.Parallel()
				w, _, _ := changedTown(t, strategy, remembers)
				w.withAda()
				b := w.browser()
				cookies, err := w.app.NewSession(t.Context(), b.request("GET", "/", "", ""), &core.User{ID: "u1"},
					core.SessionOptions{Remember: remember, AuthTime: start})
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range cookies {
					b.keep(c)
				}
				b.lasts("NewSession", remember)

				// A link keeps the session, whatever the form says.
				b.fields = url.Values{"rememberMe": {map[bool]string{true: "0", false: "1"}[remember]}}
				if r := w.through(b, "plain", "s1", "", ""); r.Err != nil {
					t.Fatal(r.Err)
				}
				if w.users["u1"].ID != w.who(b) || w.owner("plain", "s1") != "u1" {
					t.Fatal("the account is not linked")
				}
				if _, set := b.set[sessionCookie]; set {
					b.lasts("link", remember)
				}
				w.app.clock.Advance(7 * time.Hour)
				in := w.who(b)
				w.app.clock.Advance(7 * time.Hour)
				if in == "" || w.who(b) == "" {
					t.Error("a used session has ended")
				}
				w.app.clock.Advance(9 * time.Hour)
				if in := w.who(b) != ""; in != remember {
					t.Errorf("signed in after 9 hours: %t", in)
				}
			})
		}
	}
}

// TestRememberMeAfterReauth authenticates again. The session keeps the choice of its sign-in.
func TestRememberMeAfterReauth(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		for _, posted := range []string{"1", "0"} {
			w := newVault(t, strategy, func(_, _ *core.OAuthProvider, c *core.Config) { remembers(c) })
			b := visit(t, w)
			b.fields = url.Values{"rememberMe": {posted}}
			b.throughOP("op")
			b.lasts("sign-in", posted == "1")
			w.clock.Advance(time.Hour)
			b.fields = url.Values{"rememberMe": {map[string]string{"1": "0", "0": "1"}[posted]}}
			w.op.authTime = w.clock.Now().Unix()
			b.header.Set("Accept", "text/html")
			if _, r := b.reauth("op"); r.Err != nil {
				t.Fatal(r.Err)
			}
			b.lasts("re-authentication", posted == "1")
		}
	}
}

// TestRememberMePages: the checkbox is on the pages only with the option, it is selected again after a failure and on
// the second page, and not for the next user.
func TestRememberMePages(t *testing.T) {
	t.Parallel()
	const box, selected = `name="rememberMe"`, `name="rememberMe" value="1" checked`
	login := passwords()
	login.Fields = []core.Field{{Name: "email", Type: "email"}, {Name: "password", Type: "password"}}
	for _, first := range []bool{false, true} {
		a := newApp(t, core.Config{Providers: []core.Provider{login}, Pages: core.PagesConfig{EmailFirst: first}})
		if page := string(visit(t, a).get("/auth/signin").Body); strings.Contains(page, box) {
			t.Error("the checkbox is on the page without the option")
		}
		a = newApp(t, core.Config{
			Providers: []core.Provider{login}, Pages: core.PagesConfig{EmailFirst: first},
			Session: core.SessionConfig{RememberMe: true},
		})
		b := visit(t, a)
		page := func(target string) string {
			t.Helper()
			return string(b.get(strings.TrimPrefix(target, "https://app.test")).Body)
		}
		if p := page("/auth/signin"); !strings.Contains(p, box) || strings.Contains(p, selected) {
			t.Errorf("the page is %s", p)
		}
		if first {
			r := b.submit("/auth/signin", url.Values{"email": {"ada@example.com"}, "rememberMe": {"1"}})
			if p := page(r.Redirect); !strings.Contains(p, selected) {
				t.Errorf("the second page is %s", p)
			}
		}
		wrong := url.Values{"email": {"ada@example.com"}, "password": {"wrong"}, "rememberMe": {"1"}}
		r := b.submit("/auth/callback/credentials", wrong)
		if p := page(r.Redirect); !strings.Contains(p, selected) {
			t.Errorf("after a failure the page is %s", p)
		}
		if p := page("/auth/signin"); strings.Contains(p, selected) {
			t.Error("the checkbox is selected for the next user")
		}
		wrong.Del("rememberMe")
		r = b.submit("/auth/callback/credentials", wrong)
		if strings.HasPrefix(r.Redirect, "https://app.test") && r.Status != http.StatusFound {
			t.Errorf("status %d", r.Status)
		}
	}
}

// TestRememberMeConfig lists configuration errors.
func TestRememberMeConfig(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]core.SessionConfig{
		"ShortMaxAge has no effect": {ShortMaxAge: time.Hour},
		"ShortMaxAge is -1h":        {RememberMe: true, ShortMaxAge: -time.Hour},
		"ShortMaxAge is 1.5s":       {RememberMe: true, ShortMaxAge: 1500 * time.Millisecond},
		"at most Session.MaxAge":    {RememberMe: true, ShortMaxAge: 2 * time.Hour, MaxAge: time.Hour},
	} {
		_, err := core.New(core.Config{Secrets: []core.Secret{testSecret}, URL: "https://app.test", Session: s})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	c := core.Config{Secrets: []core.Secret{testSecret}, URL: "https://app.test"}
	c.Session = core.SessionConfig{RememberMe: true, MaxAge: time.Hour}
	if _, err := core.New(c); err != nil {
		t.Error(err)
	}
}
