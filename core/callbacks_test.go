package core_test

import (
	"context"
	"errors"
	"net/url"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestCallbacksFail lets every callback of a sign-in panic or fail. Nobody is signed in, and the next request works.
func TestCallbacksFail(t *testing.T) {
	t.Parallel()
	boom := func() { panic("boom") }
	for name, callbacks := range map[string]core.Callbacks{
		"signIn": {
			SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) { boom(); return core.Allow(), nil },
		},
		"redirect": {Redirect: func(context.Context, core.RedirectParams) (string, error) { boom(); return "", nil }},
		"jwt":      {JWT: func(context.Context, core.JWTParams) (*core.Token, error) { boom(); return nil, nil }},
		"denied":   {SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) { return core.Deny(), nil }},
		"error": {SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) {
			return core.Allow(), errors.New("backend is down")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := visit(t, newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: callbacks}))
			b.submit("/auth/callback/credentials",
				url.Values{"email": {"ada@example.com"}, "password": {"engine"}, "callbackUrl": {"/x"}})
			if got := string(b.get("/auth/session").Body); got != "null" {
				t.Errorf("signed in: %s", got)
			}
			if r := b.get("/auth/providers"); r.Status != 200 {
				t.Errorf("the next request was answered %d", r.Status)
			}
		})
	}
}
