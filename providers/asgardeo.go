package providers

import "github.com/latchkey-go/latchkey/core"

// Asgardeo signs in with Asgardeo accounts.
//
// Register the application at https://console.asgardeo.io with the callback URL {origin}/auth/callback/asgardeo.
// Environment: AUTH_ASGARDEO_ID, AUTH_ASGARDEO_SECRET, AUTH_ASGARDEO_ISSUER.
//
// The issuer ends in /oauth2/token: https://api.asgardeo.io/t/<organization>/oauth2/token.
func Asgardeo(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "asgardeo", Name: "Asgardeo", Type: core.TypeOIDC,
	}, options)
}
