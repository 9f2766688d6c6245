package providers

import "github.com/latchkey-go/latchkey/core"

// Descope signs in with Descope accounts.
//
// Register the application at https://app.descope.com/home with the callback URL {origin}/auth/callback/descope.
// Environment: AUTH_DESCOPE_ID, AUTH_DESCOPE_SECRET.
//
// ClientID is the project ID. It also determines the issuer, unless Options.Issuer is set.
func Descope(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "descope", Name: "Descope", Type: core.TypeOIDC,
		DefaultIssuer: "https://api.descope.com/{client_id}",
		Checks:        []core.Check{core.CheckPKCE, core.CheckState},
	}, options)
}
