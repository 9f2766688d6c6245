package providers

import "github.com/latchkey-go/latchkey/core"

// Zitadel signs in with ZITADEL accounts.
//
// Register the application at the console of your instance with the callback URL {origin}/auth/callback/zitadel.
// Environment: AUTH_ZITADEL_ID, AUTH_ZITADEL_SECRET, AUTH_ZITADEL_ISSUER.
//
// The issuer is https://<instance>.zitadel.cloud, or your own domain.
func Zitadel(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "zitadel", Name: "ZITADEL", Type: core.TypeOIDC,
	}, options)
}
