package core_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestAuditNamesSessions: the events of one session have its public ID, from the sign-in to the end, and no other's.
func TestAuditNamesSessions(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			var trail trail
			w := newTown(t, power{true, true, true, true}, strategy, func(c *core.Config) {
				c.Audit, c.Parts = trail.note, []core.Part{careful(time.Minute)}
			})
			w.users["u1"] = core.User{ID: "u1", Email: victim}
			id := func(name core.AuditName, reason core.Reason) string {
				t.Helper()
				for _, e := range trail.all() {
					if e.Name == name && e.Reason == reason {
						return e.SessionID
					}
				}
				t.Errorf("nothing tells of %s %s", name, reason)
				return ""
			}
			b := w.browser()
			signIn := func() string {
				w.signedIn(b, b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}}))
				return b.cookies[sessionCookie]
			}
			token := signIn()
			first := id(core.AuditSignIn, "")
			signIn()
			if strategy == core.StrategyDatabase {
				events := trail.events
				if replaced := id(core.AuditSessionEnded, core.ReasonReplaced); replaced != first {
					t.Errorf("%q was replaced, want %q", replaced, first)
				}
				trail.events = events
			}
			second := id(core.AuditSignIn, "")
			b.submit("/auth/signout", nil)
			if out := id(core.AuditSignOut, ""); out != second {
				t.Errorf("signed out of %q, want %q", out, second)
			}
			if len(first) != 22 || len(second) != 22 || first == second || first == token {
				t.Errorf("the sessions are %q and %q", first, second)
			}
		})
	}
}
