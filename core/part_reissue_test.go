package core_test

import (
	"context"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestReissue gives a session another token, and ends the others; a copy of the old token is good no longer.
func TestReissue(t *testing.T) {
	t.Parallel()
	w := newTown(t, power{}, core.StrategyDatabase, func(c *core.Config) {
		c.Store, _ = c.Store.(struct{ least }).least.(*people).records()
		c.Parts = []core.Part{partFunc(func(h *core.Host) error {
			h.Facts()
			again := func(_ context.Context, c *core.Call) (*core.Response, error) {
				return c.Redirect("/there"), c.Reissue(context.Background(), core.MethodOTP)
			}
			h.Action(core.Action{Method: "POST", Name: "again", Handle: again})
			h.Action(core.Action{Method: "GET", Name: "again", Handle: again})
			return nil
		})}
	})
	w.users["u1"] = core.User{ID: "u1"}
	b := w.browser()
	if r := b.submit("/auth/again", nil); r.Err == nil {
		t.Error("nobody's session is reissued")
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

// TestReissueWithoutAProof: a token that is only brought up to date is of the same session, proved when and how it was.
// With a method it is as fresh as the proof.
func TestReissueWithoutAProof(t *testing.T) {
	t.Parallel()
	const moved = "ada@new.example"
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			var w *town
			w = newTown(t, power{}, strategy, func(c *core.Config) {
				c.Store, _ = c.Store.(struct{ least }).least.(*people).records()
				c.Parts = []core.Part{partFunc(func(h *core.Host) error {
					h.Facts()
					h.Action(core.Action{Method: "POST", Name: "move",
						Handle: func(ctx context.Context, c *core.Call) (*core.Response, error) {
							before := w.users["u1"]
							after := before
							after.Email = moved
							w.users["u1"] = after
							c.UpdatedUser(ctx, &before, &after)
							return c.Redirect("/there"), c.Reissue(ctx)
						}})
					h.Action(core.Action{Method: "POST", Name: "again",
						Handle: func(ctx context.Context, c *core.Call) (*core.Response, error) {
							return c.Redirect("/there"), c.Reissue(ctx, core.MethodOTP)
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
				t.Errorf("without a proof: session %s of %v by %v, was %s by %v", s.ID, s.AuthTime, s.Methods, first.ID,
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
			if !s.AuthTime.Equal(start.Add(time.Hour)) || !slices.Contains(s.Methods, core.MethodOTP) {
				t.Errorf("with a proof: of %v by %v", s.AuthTime, s.Methods)
			}
		})
	}
}
