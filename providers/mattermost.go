package providers

import "github.com/latchkey-go/latchkey/core"

// Mattermost signs in with Mattermost accounts.
//
// Register the application at the system console of your installation with the callback URL
// {origin}/auth/callback/mattermost. Environment: AUTH_MATTERMOST_ID, AUTH_MATTERMOST_SECRET, AUTH_MATTERMOST_ISSUER.
//
// BaseURL is the URL of your installation.
func Mattermost(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "mattermost", Name: "Mattermost", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "{base}/oauth/authorize"},
		Token:         core.Endpoint{URL: "{base}/oauth/access_token"},
		Userinfo:      core.Endpoint{URL: "{base}/api/v4/users/me"},
		ClientAuth:    core.ClientSecretPost,
		Profile:       mapping{id: "id", name: "username ?? first_name + last_name", email: "email"}.person(),
		Style:         core.Style{Mark: markMattermost()},
	}, options)
}
