package core_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestAdmittedIsAskedOnceMore has what somebody signed in with change between Authorize and their session: by the time
// core asks, the session or the sign-in that a gate holds is stored, so that what ends all sessions finds it.
func TestAdmittedIsAskedOnceMore(t *testing.T) {
	t.Parallel()
	changed := core.NewError(core.ErrCredentialsSignin, nil)
	for _, strategy := range strategies {
		for _, row := range []struct {
			name   string
			gated  bool
			still  error
			panics bool
		}{
			{name: "it stands"},
			{name: "it has changed", still: changed},
			{name: "it cannot be found out", panics: true},
			{name: "behind a gate it stands", gated: true},
			{name: "behind a gate it has changed", gated: true, still: changed},
		} {
			t.Run(string(strategy)+" "+row.name, func(t *testing.T) {
				t.Parallel()
				var w *town
				var k *keptRecords
				asked, events := 0, 0
				still := func(context.Context) error {
					asked++
					switch stored := len(w.sessions) == 1; {
					case row.gated && k.count() == 0:
						t.Error("asked before the sign-in is held")
					case !row.gated && stored != (strategy == core.StrategyDatabase):
						t.Errorf("%d sessions are stored", len(w.sessions))
					case row.panics:
						panic("no answer")
					}
					return row.still
				}
				w = newTown(t, power{}, strategy, func(c *core.Config) {
					c.Store, k = c.Store.(struct{ least }).least.(*people).records()
					admit(c, still)
					if row.gated {
						c.Parts = append(c.Parts, &toyFactor{name: "toyfactor"})
					}
					c.Events.SignIn = func(context.Context, core.SignInEvent) error { events++; return nil }
				})
				w.users["u1"] = core.User{ID: "u1", Email: "u1@x.example", EmailVerified: start}
				b := w.browser()
				b.get("/auth/signin")
				r := b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}})
				good := row.still == nil && !row.panics
				if asked != 1 || (r.Err == nil) != good {
					t.Fatalf("asked %d times, the answer is %d %s: %v", asked, r.Status, r.Redirect, r.Err)
				}
				in := good && !row.gated
				if (w.who(b) == "u1") != in || (b.cookies[sessionCookie] != "") != in || (events == 1) != in {
					t.Errorf("signed in is %q, with cookies %v and %d events", w.who(b), b.cookies, events)
				}
				if !in && len(w.sessions) != 0 {
					t.Errorf("%d sessions are left", len(w.sessions))
				}
				if row.gated && (r.Redirect == "https://app.test/auth/toyfactor") != good {
					t.Errorf("sent to %s", r.Redirect)
				}
			})
		}
	}
}

// TestRefusedAfterTheVisitorLeft: the session of somebody whom Admit refuses is removed, also where they have hung up.
func TestRefusedAfterTheVisitorLeft(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	w := newTown(t, power{}, core.StrategyDatabase, func(c *core.Config) {
		admit(c, func(context.Context) error {
			leave()
			return core.NewError(core.ErrCredentialsSignin, nil)
		})
	})
	w.users["u1"] = core.User{ID: "u1", Email: "u1@x.example", EmailVerified: start}
	b := w.browser()
	form := url.Values{"csrfToken": {b.csrf()}, "id": {"u1"}}.Encode()
	r := b.auth.Handle(ctx, b.request("POST", "/auth/callback/credentials", "application/x-www-form-urlencoded", form))
	if r.Err == nil || len(w.sessions) != 0 {
		t.Errorf("%d sessions are left, and the answer is %d: %v", len(w.sessions), r.Status, r.Err)
	}
}

// admit has the credentials of a configuration admit in place of Authorize.
func admit(c *core.Config, still func(context.Context) error) {
	for _, p := range c.Providers {
		if p, ok := p.(*core.CredentialsProvider); ok {
			authorize := p.Authorize
			p.Authorize = nil
			p.Admit = func(ctx context.Context, fields map[string]string, r *core.Request) (
				*core.User, func(context.Context) error, error,
			) {
				user, err := authorize(ctx, fields, r)
				return user, still, err
			}
		}
	}
}
