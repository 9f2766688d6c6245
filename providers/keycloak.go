package providers

import "github.com/latchkey-go/latchkey/core"

// Keycloak signs in with Keycloak accounts.
//
// Register the application at the admin console of your installation with the callback URL
// {origin}/auth/callback/keycloak. Environment: AUTH_KEYCLOAK_ID, AUTH_KEYCLOAK_SECRET, AUTH_KEYCLOAK_ISSUER.
//
// The issuer is https://<host>/realms/<realm>.
func Keycloak(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "keycloak", Name: "Keycloak", Type: core.TypeOIDC,
		Style: core.Style{Mark: markKeycloak()},
	}, options)
}
