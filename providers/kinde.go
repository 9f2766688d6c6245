package providers

import "github.com/latchkey-go/latchkey/core"

// Kinde signs in with Kinde accounts.
//
// Register the application at https://app.kinde.com/admin with the callback URL {origin}/auth/callback/kinde.
// Environment: AUTH_KINDE_ID, AUTH_KINDE_SECRET, AUTH_KINDE_ISSUER.
//
// The issuer is https://<business>.kinde.com.
func Kinde(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "kinde", Name: "Kinde", Type: core.TypeOIDC,
		Checks: []core.Check{core.CheckState, core.CheckPKCE},
	}, options)
}
