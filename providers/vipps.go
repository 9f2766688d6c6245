package providers

import "github.com/latchkey-go/latchkey/core"

// Vipps signs in with Vipps accounts.
//
// Register the application at https://portal.vippsmobilepay.com with the callback URL {origin}/auth/callback/vipps.
// Environment: AUTH_VIPPS_ID, AUTH_VIPPS_SECRET.
//
// For the test environment, set Options.Issuer to https://apitest.vipps.no/access-management-1.0/access/.
func Vipps(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "vipps", Name: "Vipps", Type: core.TypeOIDC,
		Issuer:              "https://api.vipps.no/access-management-1.0/access/",
		Scope:               "openid name email",
		Checks:              []core.Check{core.CheckPKCE, core.CheckState, core.CheckNonce},
		ProfileFromUserinfo: true,
	}, options)
}
