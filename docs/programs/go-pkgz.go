package main

import (
	"context"
	"crypto/sha1"
	"encoding/hex"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// adopt replaces the old ID by the new one in your tables. It may be called again.
type adopt func(ctx context.Context, oldID, newID string) error

func newConfig(store core.Store, adopt adopt) core.Config {
	return core.Config{
		Store:     store,
		Providers: []core.Provider{providers.GitHub()},
		// An error of SignIn is logged, and the next sign-in tries again.
		Events: core.Events{SignIn: func(ctx context.Context, e core.SignInEvent) error {
			return adopt(ctx, "github_"+hashed(e.Profile.Text("login")), e.User.ID)
		}},
	}
}

func hashed(id string) string {
	sum := sha1.Sum([]byte(id)) // as in the old IDs
	return hex.EncodeToString(sum[:])
}
