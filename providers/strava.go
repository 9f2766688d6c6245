package providers

import (
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Strava signs in with Strava accounts.
//
// Register the application at https://www.strava.com/settings/api with the callback URL {origin}/auth/callback/strava.
// Environment: AUTH_STRAVA_ID, AUTH_STRAVA_SECRET.
//
// The profile has no email address.
func Strava(options ...Options) *core.OAuthProvider {
	return withCommas(&core.OAuthProvider{
		ID: "strava", Name: "Strava", Type: core.TypeOAuth,
		Authorization: core.Endpoint{
			URL:    "https://www.strava.com/api/v3/oauth/authorize",
			Params: url.Values{"approval_prompt": {"auto"}},
		},
		Token:      core.Endpoint{URL: "https://www.strava.com/api/v3/oauth/token"},
		Userinfo:   core.Endpoint{URL: "https://www.strava.com/api/v3/athlete"},
		Scope:      "read",
		ClientAuth: core.ClientSecretPost,
		RefreshTokenRevoked: func(response core.Profile) bool {
			for _, each := range response.List("errors") {
				if e, _ := each.(map[string]any); e["resource"] == "RefreshToken" && e["code"] == "invalid" {
					return true
				}
			}
			return false
		},
		Profile: mapping{id: "id", name: "firstname + lastname", image: "profile"}.person(),
		Style:   core.Style{Mark: markStrava()},
	}, options)
}
