package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/store"
)

// TestSessionUpdateFromOutside posts data for claims that the client must not be able to choose.
func TestSessionUpdateFromOutside(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	signIn(t, b)
	body, _ := json.Marshal(map[string]any{"csrfToken": b.csrf(), "data": map[string]any{
		"sub": "2", "id": "2", "email": "eve@evil.example", "name": "Eve", "exp": int64(4102444800), "iat": 1, "jti": "mine",
		"roles": []string{"admin"},
		"user":  map[string]any{"id": "2", "email": "eve@evil.example"}, "expires": "2100-01-01T00:00:00Z",
	}})
	r := b.send("POST", "/auth/session", "application/json", string(body))
	if r.Status != 200 || strings.Contains(string(r.Body), "evil") || strings.Contains(string(r.Body), "admin") ||
		!strings.Contains(string(r.Body), "ada@example.com") || !strings.Contains(string(r.Body), "2030-01-31") {
		t.Errorf("status %d: %s", r.Status, r.Body)
	}
	token, err := a.DecodeToken(b.cookies[sessionCookie], sessionCookie)
	if err != nil || token.Subject != "1" || token.Email != "ada@example.com" || token.ID == "mine" ||
		len(token.Extra) > 0 || token.Expires.Year() != 2030 {
		t.Errorf("token %+v, %v", token, err)
	}
}

// TestReissue replaces the token of a session and ends the others. A copy of the old token becomes invalid.
func TestReissue(t *testing.T) {
	t.Parallel()
	w := newTown(t, power{}, core.StrategyDatabase, func(c *core.Config) {
		c.Store, _ = c.Store.(struct{ least }).least.(*people).records()
		c.Plugins = []core.Plugin{partFunc(func(h *core.PluginHost) error {
			h.TrackAuthentication()
			again := func(_ context.Context, c *core.ActionRequest) (*core.Response, error) {
				return c.Redirect("/there"), c.RenewSession(context.Background(), amr.OTP)
			}
			h.AddAction(core.Action{Method: "POST", Name: "again", Handle: again})
			h.AddAction(core.Action{Method: "GET", Name: "again", Handle: again})
			return nil
		})}
	})
	w.users["u1"] = core.User{ID: "u1"}
	b := w.browser()
	if r := b.submit("/auth/again", nil); r.Err == nil {
		t.Error("Reissue without a session succeeded")
	}
	w.signedIn(b, b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}}))
	before := b.cookies[sessionCookie]
	if r := b.get("/auth/again"); r.Err == nil || b.cookies[sessionCookie] != before {
		t.Error("a GET reissues")
	}
	w.signedIn(b, b.submit("/auth/again", nil))
	if after := b.cookies[sessionCookie]; after == before || len(w.sessions) != 1 {
		t.Errorf("the token is %q, was %q; %d rows", after, before, len(w.sessions))
	}
	b.cookies[sessionCookie] = before
	if got := w.who(b); got != "" {
		t.Errorf("the old token signs in as %q", got)
	}
}

// TestReissueWithoutASignIn checks that a reissue without methods keeps the session's ID, age and methods. With a
// method, the session is a recent authentication.
func TestReissueWithoutASignIn(t *testing.T) {
	t.Parallel()
	const moved = "ada@new.example"
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			var w *town
			w = newTown(t, power{}, strategy, func(c *core.Config) {
				c.Store, _ = c.Store.(struct{ least }).least.(*people).records()
				c.Plugins = []core.Plugin{partFunc(func(h *core.PluginHost) error {
					h.TrackAuthentication()
					h.AddAction(core.Action{Method: "POST", Name: "move",
						Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
							before := w.users["u1"]
							after := before
							after.Email = moved
							w.users["u1"] = after
							c.UpdatedUser(ctx, &before, &after)
							return c.Redirect("/there"), c.RenewSession(ctx)
						}})
					h.AddAction(core.Action{Method: "POST", Name: "again",
						Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
							return c.Redirect("/there"), c.RenewSession(ctx, amr.OTP)
						}})
					return nil
				})}
			})
			w.users["u1"] = core.User{ID: "u1", Email: victim}
			b := w.browser()
			w.signedIn(b, b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}}))
			first, cookie := b.session(), b.cookies[sessionCookie]
			w.app.clock.Advance(time.Hour)
			w.signedIn(b, b.submit("/auth/move", nil))
			s := b.session()
			if s.ID != first.ID || !s.AuthTime.Equal(start) || !slices.Equal(s.Methods, first.Methods) {
				t.Errorf("without methods: session %s of %v by %v, was %s by %v", s.ID, s.AuthTime, s.Methods, first.ID,
					first.Methods)
			}
			if s.User.Email != moved {
				t.Errorf("it shows %q", s.User.Email)
			}
			if strategy == core.StrategyDatabase && b.cookies[sessionCookie] != cookie {
				t.Error("the token of a row is another one")
			}
			w.signedIn(b, b.submit("/auth/again", nil))
			s = b.session()
			if !s.AuthTime.Equal(start.Add(time.Hour)) || !slices.Contains(s.Methods, amr.OTP) {
				t.Errorf("with methods: of %v by %v", s.AuthTime, s.Methods)
			}
		})
	}
}

// provingAgain returns a plugin with an action that re-authenticates the user. It calls first before.
func provingAgain(first func(context.Context, *core.ActionRequest) error) core.Plugin {
	return partFunc(func(h *core.PluginHost) error {
		h.TrackAuthentication()
		h.AddAction(core.Action{Method: "POST", Name: "again",
			Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
				if err := first(ctx, c); err != nil {
					return nil, err
				}
				return c.Redirect("/there"), c.RenewSession(ctx, amr.OTP)
			}})
		return nil
	})
}

func nothingFirst(context.Context, *core.ActionRequest) error { return nil }

// othersFirst ends the user's other sessions, as a password change does.
func othersFirst(ctx context.Context, c *core.ActionRequest) error {
	_, err := c.EndOtherSessions(ctx)
	return err
}

// TestReissueEndsCopies checks that a copy of the old session token becomes invalid when its session is reissued after
// a re-authentication. The list shows one session, with its original start and place.
func TestReissueEndsCopies(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(context.Context, *core.ActionRequest) error{
		"alone": nothingFirst, "after the others have ended": othersFirst,
	} {
		for _, strategy := range bothStrategies {
			t.Run(string(strategy)+" "+name, func(t *testing.T) {
				t.Parallel()
				a, h := factual(t, strategy, func(c *core.Config) {
					c.Session.Revocation.On = onFor(strategy)
					c.Plugins = []core.Plugin{provingAgain(first)}
				})
				b := signedIn(t, a, "1")
				begun, thief := b.session(), visit(t, a)
				thief.cookies[sessionCookie] = b.cookies[sessionCookie]
				a.clock.Advance(2 * time.Hour)
				for range 2 {
					before := b.session().ID
					b.submit("/auth/again", nil)
					if s := b.session(); s == nil || s.UserID != "1" || s.ID == before {
						t.Fatalf("the session is %+v, was %s", s, before)
					}
				}
				if s := thief.session(); s != nil {
					t.Errorf("a copy is still a session of %q", s.UserID)
				}
				list, err := a.Sessions(t.Context(), "1")
				if err != nil || len(list) != 1 || len(h.of("session")) != 1 {
					t.Fatalf("listed are %+v, %v", list, err)
				}
				if s := list[0]; s.ID != b.session().ID || !s.CreatedAt.Equal(begun.AuthTime) || s.Provider != "credentials" {
					t.Errorf("listed is %+v", s)
				}
				_, err = a.EndSessions(t.Context(), "1", core.EndOptions{One: list[0].ID})
				if err != nil || b.session() != nil {
					t.Errorf("the session cannot be ended: %v", err)
				}
			})
		}
	}
}

// TestReissueEndsTokensWithoutFacts checks that a session from before facts were enabled gets them at its first
// re-authentication, and that a copy of its old token becomes invalid.
func TestReissueEndsTokensWithoutFacts(t *testing.T) {
	t.Parallel()
	config := core.Config{Store: newHouse(), Providers: []core.Provider{byName()}, InsecureNoLimits: true}
	config.Session.Strategy = core.StrategyJWT
	b := signedIn(t, newApp(t, config), "1")
	config.Session.Revocation.On, config.Plugins = core.True, []core.Plugin{provingAgain(nothingFirst)}
	a := newApp(t, config)
	thief := visit(t, a)
	thief.cookies[sessionCookie] = b.cookies[sessionCookie]
	b.at(a).submit("/auth/again", nil)
	if s := b.session(); s == nil || s.ID == "" {
		t.Errorf("the session is %+v", s)
	}
	if s := thief.session(); s != nil {
		t.Errorf("a copy is still a session of %q", s.UserID)
	}
}

// TestLogoutOfAContinuedSession checks that a back-channel logout by sid ends the local session even after its token
// was reissued.
func TestLogoutOfAContinuedSession(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			op := &smallOP{}
			config := core.Config{Plugins: []core.Plugin{provingAgain(nothingFirst)}}
			config.Store = struct {
				*opRows
				*drawer
			}{newOPRows(), newDrawer()}
			config.Session.Strategy, config.Session.Revocation.On = strategy, onFor(strategy)
			a := openOP(t, op, config)
			b := op.signIn(t, a, "s1")
			before := b.cookies[sessionCookie]
			if b.submit("/auth/again", nil); b.cookies[sessionCookie] == before || !here(b) {
				t.Fatal("the session has the token of before, or has ended")
			}
			if r := logout(a, op.logoutToken("j1", map[string]any{"sid": "s1"})); r.Status != 200 || here(b) {
				t.Errorf("status %d, session active: %t", r.Status, here(b))
			}
		})
	}
}

// TestReissueLeavesEndedSessions checks that a session stays ended if it ends while an action runs.
func TestReissueLeavesEndedSessions(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*app, *browser){
		"sign-out": func(_ *app, b *browser) { b.submit("/auth/signout", nil) },
		"EndSessions": func(a *app, b *browser) {
			if _, err := a.EndSessions(context.Background(), "1", core.EndOptions{}); err != nil {
				b.t.Error(err)
			}
		},
	} {
		for _, revocation := range []core.OptionalBool{core.True, core.False} {
			for _, strategy := range bothStrategies {
				if revocation == core.False && (strategy == core.StrategyDatabase || name == "EndSessions") {
					continue
				}
				t.Run(string(strategy)+" "+name, func(t *testing.T) {
					t.Parallel()
					ended := func() {}
					first := func(ctx context.Context, c *core.ActionRequest) error {
						_, err := c.Session(ctx)
						ended()
						return err
					}
					a, _ := factual(t, strategy, func(c *core.Config) {
						if strategy == core.StrategyJWT {
							c.Session.Revocation.On = revocation
						}
						c.Plugins = []core.Plugin{provingAgain(first)}
					})
					b := signedIn(t, a, "1")
					tab := visit(t, a)
					tab.cookies = b.cookies
					ended = func() { end(a, tab) }
					if r := b.submit("/auth/again", nil); !errors.Is(r.Err, core.ErrNotFound) {
						t.Errorf("status %d, %v", r.Status, r.Err)
					}
					if s := b.session(); s != nil {
						t.Errorf("signed in again as %q", s.UserID)
					}
				})
			}
		}
	}
}

// keepingSessions is a store that cannot delete sessions while it is down.
type keepingSessions struct {
	house
	down atomic.Bool
}

func (s *keepingSessions) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	if s.down.Load() {
		return nil, store.ErrUnavailable
	}
	return s.house.DeleteSession(ctx, token)
}

// TestReissueLeavesFailedSignOuts checks that a sign-out that could not delete the stored session is not undone by a
// renewal in the same browser.
func TestReissueLeavesFailedSignOuts(t *testing.T) {
	t.Parallel()
	rows := &keepingSessions{house: newHouse()}
	signOut := func() {}
	a, _ := factual(t, core.StrategyDatabase, func(c *core.Config) {
		c.Store = rows
		c.Plugins = []core.Plugin{provingAgain(func(ctx context.Context, c *core.ActionRequest) error {
			_, err := c.Session(ctx)
			signOut()
			return err
		})}
	})
	b := signedIn(t, a, "1")
	tab := visit(t, a)
	tab.cookies = b.cookies
	signOut = func() {
		rows.down.Store(true)
		defer rows.down.Store(false)
		tab.submit("/auth/signout", nil)
	}
	if r := b.submit("/auth/again", nil); !errors.Is(r.Err, core.ErrNotFound) {
		t.Errorf("status %d, %v", r.Status, r.Err)
	}
	if s := b.session(); s != nil {
		t.Errorf("signed in again as %q", s.UserID)
	}
	if len(rows.people.sessions) != 1 {
		t.Errorf("%d stored sessions, the sign-out deleted it", len(rows.people.sessions))
	}
}
