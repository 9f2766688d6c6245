package providers

import "github.com/latchkey-go/latchkey/core"

// Salesforce signs in with Salesforce accounts.
//
// Register the application at the app manager in the setup of your organization with the callback URL
// {origin}/auth/callback/salesforce. Environment: AUTH_SALESFORCE_ID, AUTH_SALESFORCE_SECRET.
//
// For your own domain or a sandbox, set Options.Issuer.
func Salesforce(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "salesforce", Name: "Salesforce", Type: core.TypeOIDC,
		Issuer:              "https://login.salesforce.com",
		Checks:              []core.Check{core.CheckPKCE, core.CheckState, core.CheckNonce},
		ProfileFromUserinfo: true,
	}, options)
}
