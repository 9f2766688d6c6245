package providers

import (
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Twitch signs in with Twitch accounts.
//
// Register the application at https://dev.twitch.tv/console/apps with the callback URL {origin}/auth/callback/twitch.
// Environment: AUTH_TWITCH_ID, AUTH_TWITCH_SECRET.
func Twitch(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "twitch", Name: "Twitch", Type: core.TypeOIDC,
		Issuer: "https://id.twitch.tv/oauth2",
		Authorization: core.Endpoint{Params: url.Values{
			"claims": {"{\"id_token\":{\"email\":null,\"picture\":null,\"preferred_username\":null}}"},
		}},
		RefreshTokenRevoked: func(response core.Profile) bool {
			return response.Text("message") == "Invalid refresh token"
		},
		Scope:      "openid user:read:email",
		ClientAuth: core.ClientSecretPost,
		Style:      core.Style{Mark: markTwitch()},
	}, options)
}
