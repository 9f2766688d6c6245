package providers

import "github.com/latchkey-go/latchkey/core"

// Pinterest signs in with Pinterest accounts.
//
// Register the application at https://developers.pinterest.com/apps/ with the callback URL
// {origin}/auth/callback/pinterest. Environment: AUTH_PINTEREST_ID, AUTH_PINTEREST_SECRET.
//
// As in Auth.js, the account is identified by its user name, although users can change it. The profile has no email
// address.
func Pinterest(options ...Options) *core.OAuthProvider {
	return withCommas(&core.OAuthProvider{
		ID: "pinterest", Name: "Pinterest", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://www.pinterest.com/oauth"},
		Token:         core.Endpoint{URL: "https://api.pinterest.com/v5/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://api.pinterest.com/v5/user_account"},
		Scope:         "user_accounts:read",
		Profile:       mapping{id: "username", name: "username", image: "profile_image"}.person(),
		Style:         core.Style{Mark: markPinterest()},
	}, options)
}
