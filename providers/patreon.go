package providers

import "github.com/latchkey-go/latchkey/core"

// Patreon signs in with Patreon accounts.
//
// Register the application at https://www.patreon.com/portal/registration/register-clients with the callback URL
// {origin}/auth/callback/patreon. Environment: AUTH_PATREON_ID, AUTH_PATREON_SECRET.
func Patreon(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "patreon", Name: "Patreon", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://www.patreon.com/oauth2/authorize"},
		Token:         core.Endpoint{URL: "https://www.patreon.com/api/oauth2/token"},
		Userinfo:      core.Endpoint{URL: "https://www.patreon.com/api/oauth2/api/current_user"},
		Scope:         "identity identity[email]",
		Profile: mapping{
			id: "data.id", name: "data.attributes.full_name", email: "data.attributes.email", image: "data.attributes.image_url",
		}.person(),
		Style: core.Style{Mark: markPatreon()},
	}, options)
}
