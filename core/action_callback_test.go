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
