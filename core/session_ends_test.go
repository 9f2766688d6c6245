package core_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestSessionEndsDuringCallback ends the visitor's session while a request that links an account is under way: the
// account is not linked to a user whom the visitor no longer is. A second cookie of the session's name, which any
// neighbouring subdomain can plant, has the session opened long before.
func TestSessionEndsDuringCallback(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for name, extra := range map[string]string{
			"one cookie":             "",
			"a planted one in front": sessionCookie + "=junk; ",
		} {
			for _, ends := range []bool{false, true} {
				title := string(strategy) + ", " + name + ", ends " + map[bool]string{true: "in between", false: "later"}[ends]
				t.Run(title, func(t *testing.T) {
					var w *town
					ended, armed := false, false
					w = newTown(t, power{false, true, true, true}, strategy, func(c *core.Config) {
						c.JWT.Revoked = func(context.Context, *core.Token) (bool, error) { return ended, nil }
						c.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) {
							if armed && ends {
								ended = true
								clear(w.sessions)
							}
							return core.Allow(), nil
						}
					})
					b := visit(t, w.app)
					if r := w.through(b, "plain", "first", victim, ""); r.Err != nil {
						t.Fatal(r.Err)
					}
					first := w.owner("plain", "first")
					start := b.submit("/auth/signin/vouching", nil)
					if start.Err != nil {
						t.Fatal(start.Err)
					}
					target, err := url.Parse(start.Redirect)
					if err != nil {
						t.Fatal(err)
					}
					answer := url.Values{"code": {"c"}}
					if state := target.Query().Get("state"); state != "" {
						answer.Set("state", state)
					}
					w.person = `{"sub":"second","name":"Somebody","email":"` + stranger + `"}`
					armed = true
					r := b.request("GET", "/auth/callback/vouching?"+answer.Encode(), "", "")
					r.Header.Set("Cookie", extra+r.Header.Get("Cookie"))
					if response := w.app.Handle(t.Context(), r); response.Err != nil {
						t.Fatal(response.Err)
					}
					if linked := w.owner("vouching", "second") == first; linked == ends {
						t.Errorf("linked to the user of the session: %t", linked)
					}
				})
			}
		}
	}
}
