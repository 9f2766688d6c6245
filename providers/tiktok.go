package providers

import (
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// TikTok signs in with TikTok accounts.
//
// Register the application at https://developers.tiktok.com/apps/ with the callback URL {origin}/auth/callback/tiktok.
// Environment: AUTH_TIKTOK_ID, AUTH_TIKTOK_SECRET.
//
// The client key is the ClientID. The service does not accept callback URLs on localhost. The profile has no email
// address.
func TikTok(options ...Options) *core.OAuthProvider {
	return withCommas(&core.OAuthProvider{
		ID: "tiktok", Name: "TikTok", Type: core.TypeOAuth,
		Authorization: core.Endpoint{
			URL:    "https://www.tiktok.com/v2/auth/authorize",
			Params: url.Values{"client_key": {"{client_id}"}},
		},
		Token: core.Endpoint{
			URL:    "https://open.tiktokapis.com/v2/oauth/token/",
			Params: url.Values{"client_key": {"{client_id}"}},
		},
		Userinfo: core.Endpoint{
			URL:    "https://open.tiktokapis.com/v2/user/info/",
			Params: url.Values{"fields": {"open_id,avatar_url,display_name"}},
		},
		Scope:      "user.info.basic",
		ClientAuth: core.ClientSecretPost,
		Profile: mapping{
			id: "data.user.open_id", name: "data.user.display_name", image: "data.user.avatar_url",
		}.person(),
		Style: core.Style{Mark: markTiktok()},
	}, options)
}
