package password_test

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
)

// TestDeniedSignUp: if Callbacks.SignIn denies the confirmation of a sign-up, there is no user, password or session,
// and the link works once the callback allows the sign-up. createUser is then called before signIn.
func TestDeniedSignUp(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, there := range []bool{true, false} {
			for _, denial := range []core.SignInResult{core.Deny(), core.RedirectTo("/sorry")} {
				result := denial
				var order []string
				w := site(t, transactions(there), func(_ *password.Options, c *core.Config) {
					c.Session.Strategy = strategy
					c.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) {
						order = append(order, "callback")
						return result, nil
					}
					c.Events.CreateUser = func(_ context.Context, e core.UserEvent) error {
						if e.User.Email != ada || e.User.EmailVerified.IsZero() {
							t.Errorf("createUser is called for %+v", e.User)
						}
						order = append(order, "createUser")
						return nil
					}
					c.Events.SignIn = func(context.Context, core.SignInEvent) error { order = append(order, "signIn"); return nil }
				})
				b := w.visit()
				b.post("password/sign-up", "email", ada, "password", good)
				link := token(t, w.newestEmail(ada, mailkind.Verify))
				w.store.took()
				if r := b.post("password/confirm", "token", link); r.Status == http.StatusOK && result == core.Deny() {
					t.Errorf("answered %d", r.Status)
				}
				calls := w.store.took()
				if w.user(ada) != nil || b.session() != "" || slices.Contains(calls, "CreateUser") {
					t.Errorf("%s, transactions %v: a denied sign-up created a user or session: %v", strategy, there, calls)
				}
				order, result = nil, core.Allow()
				b.post("password/confirm", "token", link)
				if want := []string{"callback", "createUser", "signIn"}; !slices.Equal(order, want) || b.session() != ada {
					t.Errorf("%s, transactions %v: %v, want %v; the session is %q", strategy, there, order, want, b.session())
				}
			}
		}
	}
}
