package providers

import "github.com/latchkey-go/latchkey/core"

// Zoom signs in with Zoom accounts.
//
// Register the application at https://marketplace.zoom.us/develop/create with the callback URL
// {origin}/auth/callback/zoom. Environment: AUTH_ZOOM_ID, AUTH_ZOOM_SECRET.
func Zoom(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "zoom", Name: "Zoom", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://zoom.us/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://zoom.us/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://api.zoom.us/v2/users/me"},
		Scope:         core.NoScope,
		Profile:       mapping{id: "id", name: "first_name + last_name", email: "email", image: "pic_url"}.person(),
		Style:         core.Style{Mark: markZoom()},
	}, options)
}
