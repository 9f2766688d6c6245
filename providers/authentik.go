package providers

import "github.com/latchkey-go/latchkey/core"

// Authentik signs in with Authentik accounts.
//
// Register the application at the admin interface of your installation with the callback URL
// {origin}/auth/callback/authentik. Environment: AUTH_AUTHENTIK_ID, AUTH_AUTHENTIK_SECRET, AUTH_AUTHENTIK_ISSUER.
//
// The issuer is https://<host>/application/o/<application>/, with the trailing slash.
func Authentik(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "authentik", Name: "Authentik", Type: core.TypeOIDC,
		Style: core.Style{Mark: markAuthentik()},
	}, options)
}
