package main

import (
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// fromV4 keeps users signed in if their sessions are rows of the database.
func fromV4(store core.Store, origin string) (*core.Auth, error) {
	return core.New(core.Config{
		URL: origin, BasePath: "/api/auth", Store: store,
		Session: core.SessionConfig{Strategy: core.StrategyDatabase},
		Cookies: core.CookiesConfig{SessionToken: core.CookieOptions{
			Name: "__Secure-next-auth.session-token", Secure: core.True, // without the prefix and core.False on http
		}},
		Providers: []core.Provider{providers.GitHub()},
	})
}
