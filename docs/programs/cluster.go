package main

import (
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

func keycloak() core.Provider {
	return providers.Keycloak(providers.Options{
		Issuer:            "http://keycloak:8080/realms/acme",
		AllowInsecureHTTP: core.True,
	})
}
