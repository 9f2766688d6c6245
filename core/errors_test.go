package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestErrorsAreOfTheBaseClass checks that errors.Is matches the type of an error and AuthError, the base of all types
// (docs/protocol.md §11.1).
func TestErrorsAreOfTheBaseClass(t *testing.T) {
	t.Parallel()
	denied := core.NewError(core.ErrAccessDenied, errors.New("no"))
	_, config := core.New(core.Config{Getenv: func(string) string { return "" }})
	for name, row := range map[string]struct {
		err, target error
		is          bool
	}{
		"its class":                  {denied, core.ErrAccessDenied, true},
		"another class":              {denied, core.ErrVerification, false},
		"the base class":             {denied, core.ErrAuth, true},
		"the base class, wrapped":    {fmt.Errorf("page: %w", denied), core.ErrAuth, true},
		"a class itself":             {core.ErrAccessDenied, core.ErrAuth, true},
		"a class and another":        {core.ErrAccessDenied, core.ErrVerification, false},
		"the base and a class":       {core.ErrAuth, core.ErrAccessDenied, false},
		"faults of a configuration":  {config, core.ErrAuth, true},
		"the fault of one":           {config, core.ErrMissingSecret, true},
		"an error that is not ours":  {errors.New("no"), core.ErrAuth, false},
		"what stores say of absence": {core.ErrNotFound, core.ErrAuth, false},
	} {
		if errors.Is(row.err, row.target) != row.is {
			t.Errorf("%s: errors.Is(%v, %v) is %v", name, row.err, row.target, !row.is)
		}
	}
}

// TestWrappingTextIsLogged checks that text which an application adds by wrapping an error of core is logged.
func TestWrappingTextIsLogged(t *testing.T) {
	t.Parallel()
	inner := errors.New("account 42 is locked")
	locked := &core.Error{Type: core.ErrCredentialsSignin, Code: "locked", Cause: inner}
	denied := core.NewError(core.ErrAccessDenied, inner)
	for _, row := range []struct {
		name, location string
		authorize      error
		signIn         error
	}{
		{"Authorize", "code=locked", fmt.Errorf("directory 7: %w", locked), nil},
		{"Authorize, twice", "code=locked", fmt.Errorf("site 3: %w", fmt.Errorf("directory 7: %w", locked)), nil},
		{"Authorize, joined", "code=locked", errors.Join(errors.New("directory 7"), locked), nil},
		{"signIn callback", "error=AccessDenied", nil, fmt.Errorf("directory 7: %w", denied)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t, core.Config{
				Providers: []core.Provider{&core.CredentialsProvider{
					Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) {
						return &core.User{ID: "1"}, row.authorize
					},
				}},
				Callbacks: core.Callbacks{SignIn: func(context.Context, core.SignInParams) (core.SignInResult, error) {
					return core.Allow(), row.signIn
				}},
			})
			r := visit(t, a).submit("/auth/callback/credentials", url.Values{"password": {"x"}})
			if !strings.Contains(r.Redirect, row.location) {
				t.Errorf("redirects to %q, want %s", r.Redirect, row.location)
			}
			for _, text := range []string{"directory 7", inner.Error()} {
				if !strings.Contains(a.log.String(), text) {
					t.Errorf("no %q in the log: %s", text, a.log)
				}
				if strings.Contains(r.Redirect, text) {
					t.Errorf("the browser sees %q", text)
				}
			}
		})
	}
}
