package main

import (
	"os"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/challenge"
)

func newAuth(store core.Store, providers ...core.Provider) (*core.Auth, error) {
	return core.New(core.Config{
		Store: store, Providers: providers,
		Callbacks: core.Callbacks{
			Challenge: challenge.Turnstile(challenge.TurnstileOptions{
				SiteKey: os.Getenv("TURNSTILE_SITE_KEY"),
				Secret:  os.Getenv("TURNSTILE_SECRET"),
			}),
		},
	})
}
