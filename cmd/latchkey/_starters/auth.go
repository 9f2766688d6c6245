package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/latchkey-go/latchkey/account"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/password"
)

// newConfig configures how people sign in: with a password, and with GitHub once its two variables are set. core.New
// reads AUTH_SECRET, and in production AUTH_URL.
func newConfig(store core.Store, mail core.Mailer) core.Config {
	methods := []core.Provider{password.New(password.Options{Mail: mail})}
	if os.Getenv("AUTH_GITHUB_ID") != "" { // and AUTH_GITHUB_SECRET
		methods = append(methods, providers.GitHub())
	}
	return core.Config{
		Store:     store,
		Providers: methods,
		Parts:     []core.Part{account.New(account.Options{Mail: mail})}, // /auth/account
		Callbacks: core.Callbacks{Session: withRole},
	}
}

// withRole gives a session its role whenever it is read. The user with the verified address in ADMIN_EMAIL is an
// administrator. An application with more roles keeps them in the user's Extra, or in its own table.
func withRole(_ context.Context, p core.SessionParams) (*core.Session, error) {
	if u := p.User; !u.EmailVerified.IsZero() && u.Email == os.Getenv("ADMIN_EMAIL") {
		p.Session.Extra = core.Members{"role": json.RawMessage(`"admin"`)}
	}
	return p.Session, nil
}

// adminsOnly is a guard: it is called for signed-in users.
func adminsOnly(_ context.Context, s *core.Session) error {
	if s.Extra.Text("role") != "admin" {
		return core.ErrForbidden
	}
	return nil
}
