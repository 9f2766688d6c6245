package providers

import "github.com/latchkey-go/latchkey/core"

// Pinterest signs in with Pinterest accounts.
//
// Register the application at https://developers.pinterest.com/apps/ with the callback URL
// {origin}/auth/callback/pinterest. Environment: AUTH_PINTEREST_ID, AUTH_PINTEREST_SECRET.
//
// The account is known by its user name, as in Auth.js, though people can change it. The service tells no e-mail.
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
