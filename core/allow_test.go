package core_test

import (
	"context"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestSignInKnowsWhatIsVouchedFor: who lets people in by their address has to know whether it is theirs. An address in
// a profile is anybody's.
func TestSignInKnowsWhatIsVouchedFor(t *testing.T) {
	t.Parallel()
	var saw []string
	w := newTown(t, powers()[0], core.StrategyJWT, func(c *core.Config) {
		c.Callbacks.SignIn = func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
			saw = append(saw, p.Account.EmailProved)
			p.Account.EmailProved = "changed@evil.example" // which changes nothing
			return core.Allow(), nil
		}
	})
	for _, row := range []struct{ provider, sub, email, claims, want string }{
		{"plain", "1", victim, "", ""},
		{"vouching", "2", "a@corp.example", vouched, "a@corp.example"},
		{"vouching", "3", "b@corp.example", `,"email_verified":false`, ""},
		{"vouching", "3", "b@corp.example", vouched, "b@corp.example"},
	} {
		saw = nil
		w.through(w.browser(), row.provider, row.sub, row.email, row.claims)
		if len(saw) != 1 || saw[0] != row.want {
			t.Errorf("%s says %s%s: the callback saw %q", row.provider, row.email, row.claims, saw)
		}
	}
}
