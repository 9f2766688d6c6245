package providers

import "github.com/latchkey-go/latchkey/core"

// Osu signs in with osu! accounts.
//
// Register the application at https://osu.ppy.sh/home/account/edit#oauth with the callback URL
// {origin}/auth/callback/osu. Environment: AUTH_OSU_ID, AUTH_OSU_SECRET.
//
// The profile has no email address.
func Osu(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "osu", Name: "osu!", Type: core.TypeOAuth,
		Authorization:       core.Endpoint{URL: "https://osu.ppy.sh/oauth/authorize"},
		Token:               core.Endpoint{URL: "https://osu.ppy.sh/oauth/token"},
		Userinfo:            core.Endpoint{URL: "https://osu.ppy.sh/api/v2/me"},
		Scope:               "identify",
		RefreshTokenRevoked: leagueRefreshTokenRevoked,
		Profile:             mapping{id: "id", name: "username", image: "avatar_url"}.person(),
		Style:               core.Style{Mark: markOsu()},
	}, options)
}
