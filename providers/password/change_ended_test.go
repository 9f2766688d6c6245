package password_test

import (
	"context"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/providers/password"
)

// TestChangeLeavesEndedSessions: a session that ends between the write of the new password and the response stays
// ended.
func TestChangeLeavesEndedSessions(t *testing.T) {
	for name, sessions := range map[string]core.SessionConfig{
		"database":                {Strategy: core.StrategyDatabase},
		"jwt":                     {Strategy: core.StrategyJWT},
		"jwt, without revocation": {Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.False}},
	} {
		for _, how := range []string{"sign-out", "EndSessions"} {
			if sessions.Revocation.On == core.False && how == "EndSessions" {
				continue
			}
			t.Run(name+" "+how, func(t *testing.T) {
				var w *world
				var b *browser
				var id string
				w = site(t, func(o *password.Options, c *core.Config) {
					c.Session = sessions
					c.Audit = func(_ context.Context, e audit.Event) {
						if e.Name != audit.PasswordChanged || b == nil {
							return
						}
						if how == "EndSessions" {
							if _, err := w.auth.EndSessions(context.Background(), id, core.EndOptions{}); err != nil {
								t.Error(err)
							}
							return
						}
						tab := w.visit()
						tab.cookies = b.cookies
						tab.post("signout")
					}
				})
				signedUp := w.signUp(ada, good)
				id = w.user(ada).ID
				signedUp.csrf()
				b = signedUp
				says(t, b.post("password/change", "current", good, "newPassword", better), 200, "done")
				if who := b.session(); who != "" {
					t.Errorf("the response signs in %q again", who)
				}
				if who := w.signIn(ada, better); who != ada {
					t.Errorf("the new password signs in %q", who)
				}
			})
		}
	}
}
