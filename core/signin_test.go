package core_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestCallbackRunsOnce counts the cost of a callback with a signed-in user: the session token is decrypted once, and
// the store is asked once for the owner of the account. If there is a signIn callback, it gets the owner too. The store
// is asked again after it, because the callback may have written to the store.
func TestCallbackRunsOnce(t *testing.T) {
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
			// One more for the request that starts the sign-in.
			if opened != 2 || owners != row.owners {
				t.Errorf("tokens decrypted %d times, owners looked up %d times, want 2 and %d", opened, owners, row.owners)
			}
		})
	}
}

// TestSignInReceivesVerifiedEmail checks that a signIn callback can see whether the provider vouches for the address.
// An attacker can put any address into the profile of a provider that does not.
func TestSignInReceivesVerifiedEmail(t *testing.T) {
	t.Parallel()
	var saw []string
	w := newTown(t, powers()[0], core.StrategyJWT, func(c *core.Config) {
		c.Callbacks.SignIn = func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
			saw = append(saw, p.Account.VerifiedEmail)
			p.Account.VerifiedEmail = "changed@evil.example" // has no effect
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
