package providers

import "github.com/latchkey-go/latchkey/core"

// Hydra signs in with Hydra accounts.
//
// Register the application at your installation of Ory Hydra with the callback URL {origin}/auth/callback/hydra.
// Environment: AUTH_HYDRA_ID, AUTH_HYDRA_SECRET, AUTH_HYDRA_ISSUER.
func Hydra(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "hydra", Name: "Hydra", Type: core.TypeOIDC,
	}, options)
}
