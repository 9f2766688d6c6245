package main

import (
	"os"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/webhooks"
	"github.com/latchkey-go/latchkey/providers"
)

func newAuth(store core.Store) (*core.Auth, *webhooks.Webhooks, error) {
	hooks := webhooks.New(webhooks.Options{
		Endpoints: []webhooks.Config{{
			ID:       "billing",
			URL:      os.Getenv("BILLING_URL"), // such as http://billing.internal:4000/hooks
			Internal: true,                     // without it: https, and a server on the internet
			Events:   []string{"user.*", "sessions.ended"},
			Secrets:  []core.Secret{core.Secret(os.Getenv("BILLING_SECRET"))},
		}},
	})
	auth, err := core.New(core.Config{
		Store:     store,
		Providers: []core.Provider{providers.GitHub()},
		Plugins:   []core.Plugin{hooks},
	})
	return auth, hooks, err
}
