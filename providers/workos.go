package providers

import "github.com/latchkey-go/latchkey/core"

// WorkOS signs in with WorkOS accounts.
//
// Register the application at https://dashboard.workos.com with the callback URL {origin}/auth/callback/workos.
// Environment: AUTH_WORKOS_ID, AUTH_WORKOS_SECRET, AUTH_WORKOS_ISSUER.
//
// Set one of the parameters connection, organization, domain or provider in Options.AuthorizationParams.
func WorkOS(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "workos", Name: "WorkOS", Type: core.TypeOAuth,
		DefaultIssuer: "https://api.workos.com",
		Authorization: core.Endpoint{URL: "{base}/sso/authorize"},
		Token:         core.Endpoint{URL: "{base}/sso/token"},
		Userinfo:      core.Endpoint{URL: "{base}/sso/profile"},
		ClientAuth:    core.ClientSecretPost,
		Profile: mapping{
			id: "id", name: "first_name + last_name", email: "email", image: "raw_attributes.picture",
		}.person(),
	}, options)
}
