package main

import (
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/openapi"
	"github.com/latchkey-go/latchkey/providers"
)

func newAuth() (*core.Auth, error) {
	return core.New(core.Config{
		Providers: []core.Provider{providers.GitHub()},
		Plugins:   []core.Plugin{openapi.New(openapi.Options{Title: "Acme"})},
	})
}
