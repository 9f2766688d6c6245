package main

import (
	"os"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

func newAuth() (*core.Auth, error) {
	secrets := []core.Secret{core.Secret(os.Getenv("APP_SECRET"))}
	if other := os.Getenv("APP_SECRET_OTHER"); other != "" {
		secrets = append(secrets, core.Secret(other))
	}
	return core.New(core.Config{Secrets: secrets, Providers: []core.Provider{providers.GitHub()}})
}
