package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/password"
)

// newConfig returns the configuration: sign-in with a password, and with GitHub if AUTH_GITHUB_ID and
// AUTH_GITHUB_SECRET are set. core.New also reads AUTH_SECRET and, in production, AUTH_URL.
func newConfig(store core.Store, mail core.Mailer) core.Config {
	methods := []core.Provider{password.New(password.Options{Mail: mail})}
	if os.Getenv("AUTH_GITHUB_ID") != "" {
		methods = append(methods, providers.GitHub())
	}
	return core.Config{
		Store:     store,
		Providers: methods,
		Plugins:   []core.Plugin{account.New(account.Options{Mail: mail})}, // serves /auth/account
		Callbacks: core.Callbacks{Session: withRole},
	}
}

// withRole is called each time a session is loaded, and adds the user's role to it. The user whose verified email is
// ADMIN_EMAIL is an administrator. To support more roles, store them in the user's Extra or in your own table.
func withRole(_ context.Context, p core.SessionParams) (*core.Session, error) {
	if u := p.User; !u.EmailVerified.IsZero() && u.Email == os.Getenv("ADMIN_EMAIL") {
		p.Session.Extra = core.Members{"role": json.RawMessage(`"admin"`)}
	}
	return p.Session, nil
}

// adminsOnly is a guard. It is called for signed-in users only, and returns an error to deny access.
func adminsOnly(_ context.Context, s *core.Session) error {
	if s.Extra.Text("role") != "admin" {
		return core.ErrForbidden
	}
	return nil
}
