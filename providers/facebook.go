package providers

import (
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Facebook signs in with Facebook accounts.
//
// Register the application at https://developers.facebook.com/apps/ with the callback URL
// {origin}/auth/callback/facebook. Environment: AUTH_FACEBOOK_ID, AUTH_FACEBOOK_SECRET.
//
// The authorization URL contains an API version. For a newer one, set Authorization.URL of the provider.
func Facebook(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "facebook", Name: "Facebook", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://www.facebook.com/v19.0/dialog/oauth"},
		Token:         core.Endpoint{URL: "https://graph.facebook.com/oauth/access_token"},
		Userinfo: core.Endpoint{
			URL:    "https://graph.facebook.com/me",
			Params: url.Values{"fields": {"id,name,email,picture"}},
		},
		Scope:   "email",
		Profile: mapping{id: "id", name: "name", email: "email", image: "picture.data.url"}.person(),
		Style:   core.Style{Mark: markFacebook()},
	}, options)
}
