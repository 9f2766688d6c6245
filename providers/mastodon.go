package providers

import "github.com/latchkey-go/latchkey/core"

// Mastodon signs in with Mastodon accounts.
//
// Register the application at https://<instance>/settings/applications with the callback URL
// {origin}/auth/callback/mastodon. Environment: AUTH_MASTODON_ID, AUTH_MASTODON_SECRET, AUTH_MASTODON_ISSUER.
//
// BaseURL is the URL of the instance. The profile has no email address.
func Mastodon(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "mastodon", Name: "Mastodon", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "{base}/oauth/authorize"},
		Token:         core.Endpoint{URL: "{base}/oauth/token"},
		Userinfo:      core.Endpoint{URL: "{base}/api/v1/accounts/verify_credentials"},
		Scope:         "read",
		Profile:       mapping{id: "id", name: "username", image: "avatar_static"}.person(),
		Style:         core.Style{Mark: markMastodon()},
	}, options)
}
