package providers

import "github.com/latchkey-go/latchkey/core"

// FreshBooks signs in with Freshbooks accounts.
//
// Register the application at https://my.freshbooks.com/#/developer with the callback URL
// {origin}/auth/callback/freshbooks. Environment: AUTH_FRESHBOOKS_ID, AUTH_FRESHBOOKS_SECRET.
func FreshBooks(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "freshbooks", Name: "Freshbooks", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://auth.freshbooks.com/service/auth/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://api.freshbooks.com/auth/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://api.freshbooks.com/auth/api/v1/users/me"},
		Profile: mapping{
			id: "response.id", name: "response.first_name + response.last_name", email: "response.email",
		}.person(),
	}, options)
}
