package providers_test

import (
	"fmt"
	"log"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// Client IDs and secrets are environment variables that contain the provider's ID.
func Example() {
	env := map[string]string{
		"AUTH_SECRET": "a secret of the example, 32 bytes or more", "AUTH_URL": "https://app.example",
		"AUTH_GITHUB_ID": "id", "AUTH_GITHUB_SECRET": "secret",
		"AUTH_ACME_ID": "id", "AUTH_ACME_SECRET": "secret",
	}
	auth, err := core.New(core.Config{
		Getenv: func(name string) string { return env[name] },
		Providers: []core.Provider{
			providers.GitHub(providers.Options{AddScope: "repo"}),
			providers.OIDC("acme", "https://login.acme.example"), // any OpenID Connect issuer
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(auth.BasePath())
	// Output: /auth
}
