package core_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestCallbackAsksOnce counts what the callback of a signed-in visitor costs: the session token is opened once, and the
// store is asked once for the owner of the account. A signIn callback sees the owner too; after it the store is asked
// again, as the callback may have written.
func TestCallbackAsksOnce(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		signIn func(context.Context, core.SignInParams) (core.SignInResult, error)
		owners int
	}{
		"without a signIn callback": {owners: 1},
		"with a signIn callback": {
			signIn: func(context.Context, core.SignInParams) (core.SignInResult, error) { return core.Allow(), nil },
			owners: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opened, owners := 0, 0
			w := newTown(t, power{false, true, true, true}, core.StrategyJWT, func(c *core.Config) {
				c.Callbacks.SignIn = row.signIn
				c.JWT.Encode = func(_ context.Context, p core.EncodeParams) (string, error) {
					text, err := json.Marshal(p.Token)
					return string(text), err
				}
				c.JWT.Decode = func(_ context.Context, p core.DecodeParams) (*core.Token, error) {
					opened++
					token := &core.Token{}
					return token, json.Unmarshal([]byte(p.Token), token)
				}
			})
			b := w.browser()
			w.through(b, "plain", "s1", stranger, "")
			w.at = func(method string) {
				if method == "UserByAccount" {
					owners++
				}
			}
			if r := w.through(b, "open", "s2", stranger, ""); r.Err != nil {
				t.Fatal(r.Err)
			}
			// The request that begins the sign-in names the session too: one more.
			if opened != 2 || owners != row.owners {
				t.Errorf("tokens opened %d times, owners asked for %d times, want 2 and %d", opened, owners, row.owners)
			}
		})
	}
}

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
