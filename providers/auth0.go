package providers

import "github.com/latchkey-go/latchkey/core"

// Auth0 signs in with Auth0 accounts.
//
// Register the application at https://manage.auth0.com/dashboard with the callback URL {origin}/auth/callback/auth0.
// Environment: AUTH_AUTH0_ID, AUTH_AUTH0_SECRET, AUTH_AUTH0_ISSUER.
//
// The issuer is https://<tenant>.<region>.auth0.com/, with the slash at its end.
func Auth0(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "auth0", Name: "Auth0", Type: core.TypeOIDC,
		Style: core.Style{Mark: markAuth0()},
	}, options)
}
