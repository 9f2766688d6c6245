package fibertest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// failing is a store that returns an error that must not be sent to the browser.
type failing struct {
	core.Store
	store.SessionStore
	err error
}

func (f failing) SessionAndUser(context.Context, string) (*store.Session, *core.User, error) {
	return nil, nil, f.err
}

// Failed is the error that a handler has returned to fiber, and the status of the fiber.Error in it.
type Failed struct {
	Err    error
	Status int
}

// Errors checks the text of errors that handlers return, because fiber writes it to the response. The application has
// the routes GET /hooked, /once and /hookless, which read the session with a hook, in one call and without a hook, and
// POST /signin and /signout. It writes the errors to failed.
func Errors(t *testing.T, app func(auth *core.Auth, failed *Failed) Tester) {
	secret := errors.New("db-1.internal:5432: password authentication failed for user app")
	for _, row := range []struct {
		name, method, path, host string
		fails                    error
		status                   int
		class                    core.ErrorType
	}{
		{"a store that fails", "GET", "/hooked", "app.test", secret, 500, core.ErrSessionToken},
		{"a store that fails, in one call", "GET", "/once", "app.test", secret, 500, core.ErrSessionToken},
		{"a store that does not respond", "GET", "/hooked", "app.test", core.ErrStoreUnavailable, 503, core.ErrSessionToken},
		{"another host", "GET", "/hooked", "evil.test", secret, 500, core.ErrUntrustedHost},
		{"no hook", "GET", "/hookless", "app.test", secret, 500, core.ErrInvalidConfig},
		{"a sign-in that fails", "POST", "/signin", "app.test", secret, 500, core.ErrCredentialsSignin},
		{"a sign-out without a token", "POST", "/signout", "app.test", secret, 500, core.ErrMissingCSRF},
	} {
		t.Run(row.name, func(t *testing.T) {
			policy := core.InsecureSkipCSRFCheck()
			if row.class == core.ErrMissingCSRF {
				policy = core.CSRFPolicy{}
			}
			auth, err := core.New(core.Config{
				Store: failing{err: row.fails}, TrustedHosts: []string{"app.test"}, CSRF: policy,
				Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
				Getenv:  func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
				Session: core.SessionConfig{Strategy: core.StrategyDatabase},
				Providers: []core.Provider{&core.OAuthProvider{
					ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example", ClientID: "id", ClientSecret: "s",
				}, &core.CredentialsProvider{
					Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) {
						return nil, core.NewError(core.ErrCredentialsSignin, secret)
					},
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
			var failed Failed
			r := httptest.NewRequestWithContext(t.Context(), row.method, row.path, strings.NewReader("providerId=credentials"))
			r.Host = row.host
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Cookie", "authjs.session-token=3c1bd8a4-7f5b-4c2e-9d61-0f5f1b7c9a10")
			res := app(auth, &failed).Send(t, r)
			if res.StatusCode != row.status || res.Body != http.StatusText(row.status) {
				t.Errorf("the response is %d %s", res.StatusCode, res.Body)
			}
			var failure *core.Error
			if failed.Status != row.status || !errors.As(failed.Err, &failure) || failure.Type != row.class {
				t.Errorf("the error is %#v", failed)
			}
		})
	}
}
