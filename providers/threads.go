package providers

import (
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Threads signs in with Threads accounts.
//
// Register the application at https://developers.facebook.com/apps/ with the callback URL
// {origin}/auth/callback/threads. Environment: AUTH_THREADS_ID, AUTH_THREADS_SECRET.
//
// The profile has no email address.
func Threads(options ...Options) *core.OAuthProvider {
	return withCommas(&core.OAuthProvider{
		ID: "threads", Name: "Threads", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://threads.net/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://graph.threads.net/oauth/access_token"},
		Userinfo: core.Endpoint{
			URL:    "https://graph.threads.net/v1.0/me",
			Params: url.Values{"fields": {"id,username,threads_profile_picture_url"}},
		},
		Scope:      "threads_basic",
		Checks:     []core.Check{core.CheckState},
		ClientAuth: core.ClientSecretPost,
		Profile: mapping{
			id: "data.id || id", name: "data.username || username",
			image: "data.threads_profile_picture_url || threads_profile_picture_url",
		}.person(),
		Style: core.Style{Mark: markThreads()},
	}, options)
}
