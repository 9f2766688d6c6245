package main

import (
	"net/netip"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/storage/postgres"
)

func newAuth(store *postgres.Store, mail core.Mailer) (*core.Auth, error) {
	return core.New(core.Config{ // AUTH_SECRET and AUTH_URL: the same everywhere
		Store:          store,
		Providers:      []core.Provider{providers.GitHub(), password.New(password.Options{Mail: mail})},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.7/32")}, // the load balancer
		Limits:         core.Limits{Shared: true},                            // processes count together
		Session: core.SessionConfig{
			Strategy: core.StrategyDatabase, // a session that one process ends has ended for all
		},
	})
}
