package providers

import "github.com/latchkey-go/latchkey/core"

// Logto signs in with Logto accounts.
//
// Register the application at https://cloud.logto.io or your installation with the callback URL
// {origin}/auth/callback/logto. Environment: AUTH_LOGTO_ID, AUTH_LOGTO_SECRET, AUTH_LOGTO_ISSUER.
//
// The issuer is https://<tenant>.logto.app/oidc.
func Logto(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "logto", Name: "Logto", Type: core.TypeOIDC,
		Scope:   "offline_access openid email profile",
		Profile: mapping{id: "sub", name: "name ?? username", email: "email", image: "picture"}.person(),
	}, options)
}
