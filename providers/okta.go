package providers

import "github.com/latchkey-go/latchkey/core"

// Okta signs in with Okta accounts.
//
// Register the application at the admin console of your organization with the callback URL {origin}/auth/callback/okta.
// Environment: AUTH_OKTA_ID, AUTH_OKTA_SECRET, AUTH_OKTA_ISSUER.
//
// The issuer is https://<organization>.okta.com, or that of an authorization server: …/oauth2/<id>.
func Okta(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "okta", Name: "Okta", Type: core.TypeOIDC,
		Checks: []core.Check{core.CheckPKCE, core.CheckState},
		Style:  core.Style{Mark: markOkta()},
	}, options)
}
