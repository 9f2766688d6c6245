package main

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/admin"
	"github.com/latchkey-go/latchkey/providers"
)

func newAdmins(isAdmin func(ctx context.Context, userID string) (bool, error)) *admin.Admin {
	return admin.New(admin.Options{
		Guard: func(ctx context.Context, s *core.Session) error {
			ok, err := isAdmin(ctx, s.UserID)
			if err == nil && !ok {
				return core.ErrForbidden
			}
			return err
		},
		IsAdmin: isAdmin,
		Strong:  true, // two factors for each change
	})
}

func newAuth(store core.Store, admins *admin.Admin) (*core.Auth, error) {
	return core.New(core.Config{
		Store: store, Providers: []core.Provider{providers.GitHub()}, Plugins: []core.Plugin{admins},
	})
}
