package providers

import "github.com/latchkey-go/latchkey/core"

// Dribbble signs in with Dribbble accounts.
//
// Register the application at https://dribbble.com/account/applications/new with the callback URL
// {origin}/auth/callback/dribbble. Environment: AUTH_DRIBBBLE_ID, AUTH_DRIBBBLE_SECRET.
func Dribbble(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "dribbble", Name: "Dribbble", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://dribbble.com/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://dribbble.com/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://api.dribbble.com/v2/user"},
		Scope:         "public",
		Profile:       mapping{id: "id", name: "name", email: "email", image: "avatar_url"}.person(),
		Style:         core.Style{Mark: markDribbble()},
	}, options)
}
