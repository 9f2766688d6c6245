package providers

import "github.com/latchkey-go/latchkey/core"

// FusionAuth signs in with FusionAuth accounts.
//
// Register the application at the admin interface of your installation with the callback URL
// {origin}/auth/callback/fusionauth. Environment: AUTH_FUSIONAUTH_ID, AUTH_FUSIONAUTH_SECRET, AUTH_FUSIONAUTH_ISSUER.
//
// Tokens have to be signed with RS256 or another asymmetric algorithm: the default HS256 is refused. With several tenants add
// the parameter tenantId in Options.AuthorizationParams.
func FusionAuth(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "fusionauth", Name: "FusionAuth", Type: core.TypeOIDC,
		Issuer:   "{base}",
		Token:    core.Endpoint{URL: "{base}/oauth2/token"},
		Userinfo: core.Endpoint{URL: "{base}/oauth2/userinfo"},
		Scope:    "openid offline_access email profile",
		Checks:   []core.Check{core.CheckPKCE, core.CheckState},
		Profile:  mapping{id: "sub", name: "name || preferred_username || given_name + middle_name + family_name", email: "email", image: "picture"}.user(),
	}, options)
}
