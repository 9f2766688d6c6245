package providers

import "github.com/latchkey-go/latchkey/core"

// Concept2 signs in with Concept2 accounts.
//
// Register the application at https://log.concept2.com/developers/keys with the callback URL
// {origin}/auth/callback/concept2. Environment: AUTH_CONCEPT2_ID, AUTH_CONCEPT2_SECRET.
func Concept2(options ...Options) *core.OAuthProvider {
	return withCommas(&core.OAuthProvider{
		ID: "concept2", Name: "Concept2", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://log.concept2.com/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://log.concept2.com/oauth/access_token"},
		Userinfo:      core.Endpoint{URL: "https://log.concept2.com/api/users/me"},
		Scope:         "user:read,results:write",
		Profile: mapping{
			id: "data.id", name: "data.username", email: "data.email", image: "data.profile_image",
		}.person(),
	}, options)
}
