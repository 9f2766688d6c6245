package providers

import "github.com/latchkey-go/latchkey/core"

// Reddit signs in with Reddit accounts.
//
// Register the application at https://www.reddit.com/prefs/apps/ with the callback URL {origin}/auth/callback/reddit.
// Environment: AUTH_REDDIT_ID, AUTH_REDDIT_SECRET.
//
// For a refresh token add duration=permanent in Options.AuthorizationParams. The profile has no email address.
func Reddit(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "reddit", Name: "Reddit", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://www.reddit.com/api/v1/authorize"},
		Token:         core.Endpoint{URL: "https://www.reddit.com/api/v1/access_token"},
		Userinfo:      core.Endpoint{URL: "https://oauth.reddit.com/api/v1/me"},
		Scope:         "identity",
		Checks:        []core.Check{core.CheckState},
		Style:         core.Style{Mark: markReddit()},
	}, options)
}
