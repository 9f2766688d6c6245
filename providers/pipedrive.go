package providers

import "github.com/latchkey-go/latchkey/core"

// Pipedrive signs in with Pipedrive accounts.
//
// Register the application at https://developers.pipedrive.com with the callback URL {origin}/auth/callback/pipedrive.
// Environment: AUTH_PIPEDRIVE_ID, AUTH_PIPEDRIVE_SECRET.
func Pipedrive(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "pipedrive", Name: "Pipedrive", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://oauth.pipedrive.com/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://oauth.pipedrive.com/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://api.pipedrive.com/users/me"},
		Profile:       mapping{id: "data.id", name: "data.name", email: "data.email", image: "data.icon_url"}.person(),
	}, options)
}
