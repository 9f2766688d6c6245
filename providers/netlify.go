package providers

import "github.com/latchkey-go/latchkey/core"

// Netlify signs in with Netlify accounts.
//
// Register the application at https://app.netlify.com/user/applications with the callback URL
// {origin}/auth/callback/netlify. Environment: AUTH_NETLIFY_ID, AUTH_NETLIFY_SECRET.
func Netlify(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "netlify", Name: "Netlify", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://app.netlify.com/authorize"},
		Token:         core.Endpoint{URL: "https://api.netlify.com/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://api.netlify.com/api/v1/user"},
		Scope:         core.NoScope,
		Profile:       mapping{id: "id", name: "full_name", email: "email", image: "avatar_url"}.person(),
		Style:         core.Style{Mark: markNetlify()},
	}, options)
}
