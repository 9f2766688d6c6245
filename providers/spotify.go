package providers

import "github.com/latchkey-go/latchkey/core"

// Spotify signs in with Spotify accounts.
//
// Register the application at https://developer.spotify.com/dashboard/applications with the callback URL
// {origin}/auth/callback/spotify. Environment: AUTH_SPOTIFY_ID, AUTH_SPOTIFY_SECRET.
func Spotify(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "spotify", Name: "Spotify", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://accounts.spotify.com/authorize"},
		Token:         core.Endpoint{URL: "https://accounts.spotify.com/api/token"},
		Userinfo:      core.Endpoint{URL: "https://api.spotify.com/v1/me"},
		Scope:         "user-read-email",
		Profile:       mapping{id: "id", name: "display_name", email: "email", image: "images.0.url"}.person(),
		Style:         core.Style{Mark: markSpotify()},
	}, options)
}
