package providers

import "github.com/latchkey-go/latchkey/core"

// WordPress signs in with WordPress.com accounts.
//
// Register the application at https://developer.wordpress.com/apps/ with the callback URL
// {origin}/auth/callback/wordpress. Environment: AUTH_WORDPRESS_ID, AUTH_WORDPRESS_SECRET.
func WordPress(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "wordpress", Name: "WordPress.com", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://public-api.wordpress.com/oauth2/authorize"},
		Token:         core.Endpoint{URL: "https://public-api.wordpress.com/oauth2/token"},
		Userinfo:      core.Endpoint{URL: "https://public-api.wordpress.com/rest/v1/me"},
		Scope:         "auth",
		Profile:       mapping{id: "ID", name: "display_name", email: "email", image: "avatar_URL"}.person(),
		Style:         core.Style{Mark: markWordpress()},
	}, options)
}
