package core_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestCallbacksFail makes every callback of a sign-in panic or fail. No user is signed in, and the next request works.
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
				t.Errorf("the next request got status %d", r.Status)
			}
		})
	}
}

// TestDeniedInItsOwnWords checks that an error of a SignIn callback is AccessDenied to the browser and unchanged in the
// log.
func TestDeniedInItsOwnWords(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
		SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) {
			return core.Allow(), errors.New("the directory is out of reach")
		},
	}})
	r := visit(t, a).submit("/auth/callback/credentials",
		url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	if r.Redirect != "https://app.test/auth/error?error=AccessDenied" || !errors.Is(r.Err, core.ErrAccessDenied) {
		t.Errorf("sent to %s, %v", r.Redirect, r.Err)
	}
	if log := a.log.String(); !strings.Contains(log, "the directory is out of reach") ||
		!strings.Contains(log, "AccessDenied") {
		t.Errorf("the log says\n%s", log)
	}
}

// TestEventsWithinTheRequest checks that an event runs on the goroutine and with the context of the request, and ends
// before the response is returned.
func TestEventsWithinTheRequest(t *testing.T) {
	t.Parallel()
	type key struct{}
	told := ""
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Events: core.Events{
		SignOut: func(ctx context.Context, e core.SignOutEvent) error {
			told, _ = ctx.Value(key{}).(string)
			return nil
		},
	}})
	b := visit(t, a)
	signIn(t, b)
	form := url.Values{"csrfToken": {b.csrf()}}.Encode()
	ctx := context.WithValue(t.Context(), key{}, "this request")
	a.Handle(ctx, b.request("POST", "/auth/signout", "application/x-www-form-urlencoded", form))
	if told != "this request" {
		t.Errorf("the event ran in %q", told)
	}
}
