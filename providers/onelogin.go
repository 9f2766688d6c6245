package providers

import "github.com/latchkey-go/latchkey/core"

// OneLogin signs in with OneLogin accounts.
//
// Register the application at the admin portal of your account with the callback URL {origin}/auth/callback/onelogin.
// Environment: AUTH_ONELOGIN_ID, AUTH_ONELOGIN_SECRET, AUTH_ONELOGIN_ISSUER.
//
// The issuer ends in /oidc/2: https://<account>.onelogin.com/oidc/2.
func OneLogin(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "onelogin", Name: "OneLogin", Type: core.TypeOIDC,
	}, options)
}
