package providers

import (
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Instagram signs in with Instagram accounts.
//
// Register the application at https://developers.facebook.com/apps/ with the callback URL
// {origin}/auth/callback/instagram. Environment: AUTH_INSTAGRAM_ID, AUTH_INSTAGRAM_SECRET.
//
// The profile has no email address.
//
// Deprecated: the Basic Display API ended in December 2024. Its successor supports only professional accounts, with the
// scope instagram_business_basic.
func Instagram(options ...Options) *core.OAuthProvider {
	return withCommas(&core.OAuthProvider{
		ID: "instagram", Name: "Instagram", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://api.instagram.com/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://api.instagram.com/oauth/access_token"},
		Userinfo: core.Endpoint{
			URL:    "https://graph.instagram.com/me",
			Params: url.Values{"fields": {"id,username,account_type,name"}},
		},
		Scope:      "user_profile",
		ClientAuth: core.ClientSecretPost,
		Profile:    mapping{id: "id", name: "username"}.person(),
		Style:      core.Style{Mark: markInstagram()},
	}, options)
}
