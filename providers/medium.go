package providers

import "github.com/latchkey-go/latchkey/core"

// Medium signs in with Medium accounts.
//
// Register the application at https://medium.com/me/settings/security with the callback URL
// {origin}/auth/callback/medium. Environment: AUTH_MEDIUM_ID, AUTH_MEDIUM_SECRET.
//
// The profile has no email address.
//
// Deprecated: the API is unsupported since March 2023 and issues no new tokens.
func Medium(options ...Options) *core.OAuthProvider {
	return withCommas(&core.OAuthProvider{
		ID: "medium", Name: "Medium", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://medium.com/m/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://api.medium.com/v1/tokens"},
		Userinfo:      core.Endpoint{URL: "https://api.medium.com/v1/me"},
		Scope:         "basicProfile",
		Profile:       mapping{id: "data.id", name: "data.name", image: "data.imageUrl"}.person(),
		Style:         core.Style{Mark: markMedium()},
	}, options)
}
