package providers

import "github.com/latchkey-go/latchkey/core"

// Box signs in with Box accounts.
//
// Register the application at https://app.box.com/developers/console with the callback URL {origin}/auth/callback/box.
// Environment: AUTH_BOX_ID, AUTH_BOX_SECRET.
func Box(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "box", Name: "Box", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://account.box.com/api/oauth2/authorize"},
		Token:         core.Endpoint{URL: "https://api.box.com/oauth2/token"},
		Userinfo:      core.Endpoint{URL: "https://api.box.com/2.0/users/me"},
		Profile:       mapping{id: "id", name: "name", email: "login", image: "avatar_url"}.person(),
		Style:         core.Style{Mark: markBox()},
	}, options)
}
