package core_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// provingAgain is a part whose action proves again who the visitor is; first runs before it.
func provingAgain(first func(context.Context, *core.Call) error) core.Part {
	return partFunc(func(h *core.Host) error {
		h.Facts()
		h.Action(core.Action{Method: "POST", Name: "again",
			Handle: func(ctx context.Context, c *core.Call) (*core.Response, error) {
				if err := first(ctx, c); err != nil {
					return nil, err
				}
				return c.Redirect("/there"), c.Reissue(ctx, core.MethodOTP)
			}})
		return nil
	})
}

func nothingFirst(context.Context, *core.Call) error { return nil }

// othersFirst ends the other sessions of the visitor, as a change of a password does.
func othersFirst(ctx context.Context, c *core.Call) error {
	_, err := c.EndOthers(ctx)
	return err
}

// TestReissueEndsCopies: whoever has a copy of the very session that proves again who they are is out with it. The list
// shows one session, which began when and where it did.
func TestReissueEndsCopies(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(context.Context, *core.Call) error{
		"alone": nothingFirst, "after the others have ended": othersFirst,
	} {
		for _, strategy := range bothStrategies {
			t.Run(string(strategy)+" "+name, func(t *testing.T) {
				t.Parallel()
				a, h := factual(t, strategy, func(c *core.Config) {
					c.Session.Revocation.On = onFor(strategy)
					c.Parts = []core.Part{provingAgain(first)}
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
				if s := list[0]; s.ID != b.session().ID || !s.Made.Equal(begun.AuthTime) || s.Provider != "credentials" {
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

// TestReissueEndsTokensWithoutFacts: a session that began before sessions had facts has them from its first proof on,
// and a copy of its token ends.
func TestReissueEndsTokensWithoutFacts(t *testing.T) {
	t.Parallel()
	config := core.Config{Store: newHouse(), Providers: []core.Provider{byName()}, InsecureNoLimits: true}
	config.Session.Strategy = core.StrategyJWT
	b := signedIn(t, newApp(t, config), "1")
	config.Session.Revocation.On, config.Parts = core.On, []core.Part{provingAgain(nothingFirst)}
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

// TestLogoutOfASessionThatGoesOn: the session at a provider ends the one that it began here, whatever its token is by
// now.
func TestLogoutOfASessionThatGoesOn(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			op := &smallOP{}
			config := core.Config{Parts: []core.Part{provingAgain(nothingFirst)}}
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
				t.Errorf("answered %d, the session goes on: %t", r.Status, here(b))
			}
		})
	}
}

// TestReissueLeavesEndedSessions: a session that ends while an action runs stays ended.
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
		for _, revocation := range []core.Toggle{core.On, core.Off} {
			for _, strategy := range bothStrategies {
				if revocation == core.Off && (strategy == core.StrategyDatabase || name == "EndSessions") {
					continue
				}
				t.Run(string(strategy)+" "+name, func(t *testing.T) {
					t.Parallel()
					ended := func() {}
					first := func(ctx context.Context, c *core.Call) error {
						_, err := c.Session(ctx)
						ended()
						return err
					}
					a, _ := factual(t, strategy, func(c *core.Config) {
						if strategy == core.StrategyJWT {
							c.Session.Revocation.On = revocation
						}
						c.Parts = []core.Part{provingAgain(first)}
					})
					b := signedIn(t, a, "1")
					tab := visit(t, a)
					tab.cookies = b.cookies
					ended = func() { end(a, tab) }
					if r := b.submit("/auth/again", nil); !errors.Is(r.Err, core.ErrNotFound) {
						t.Errorf("answered %d, %v", r.Status, r.Err)
					}
					if s := b.session(); s != nil {
						t.Errorf("signed in again as %q", s.UserID)
					}
				})
			}
		}
	}
}
