package providers

import "github.com/latchkey-go/latchkey/core"

// Zoho signs in with Zoho accounts.
//
// Register the application at https://api-console.zoho.com with the callback URL {origin}/auth/callback/zoho.
// Environment: AUTH_ZOHO_ID, AUTH_ZOHO_SECRET.
func Zoho(options ...Options) *core.OAuthProvider {
	return withCommas(&core.OAuthProvider{
		ID: "zoho", Name: "Zoho", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://accounts.zoho.com/oauth/v2/auth"},
		Token:         core.Endpoint{URL: "https://accounts.zoho.com/oauth/v2/token"},
		Userinfo:      core.Endpoint{URL: "https://accounts.zoho.com/oauth/user/info"},
		Scope:         "AaaServer.profile.Read",
		Profile:       mapping{id: "ZUID", name: "First_Name + Last_Name", email: "Email"}.person(),
		Style:         core.Style{Mark: markZoho()},
	}, options)
}
