package providers

import (
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// FACEIT signs in with FACEIT accounts.
//
// Register the application at https://developers.faceit.com with the callback URL {origin}/auth/callback/faceit.
// Environment: AUTH_FACEIT_ID, AUTH_FACEIT_SECRET.
func FACEIT(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "faceit", Name: "FACEIT", Type: core.TypeOAuth,
		Authorization: core.Endpoint{
			URL:    "https://accounts.faceit.com/accounts",
			Params: url.Values{"redirect_popup": {"true"}},
		},
		Token:    core.Endpoint{URL: "https://api.faceit.com/auth/v1/oauth/token"},
		Userinfo: core.Endpoint{URL: "https://api.faceit.com/auth/v1/resources/userinfo"},
		Profile:  mapping{id: "guid", name: "name", email: "email", image: "picture"}.person(),
		Style:    core.Style{Mark: markFaceit()},
	}, options)
}
