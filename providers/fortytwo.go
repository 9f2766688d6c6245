package providers

import "github.com/latchkey-go/latchkey/core"

// FortyTwoSchool signs in with the accounts of 42.
//
// Register the application at https://profile.intra.42.fr/oauth/applications/new with the callback URL
// {origin}/auth/callback/42-school. Environment: AUTH_42_SCHOOL_ID, AUTH_42_SCHOOL_SECRET.
func FortyTwoSchool(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "42-school", Name: "42 School", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://api.intra.42.fr/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://api.intra.42.fr/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://api.intra.42.fr/v2/me"},
		Scope:         "public",
		Profile:       mapping{id: "id", name: "usual_full_name", email: "email", image: "image.link"}.person(),
		Style:         core.Style{Mark: mark42School()},
	}, options)
}
