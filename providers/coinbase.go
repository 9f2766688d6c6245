package providers

import "github.com/latchkey-go/latchkey/core"

// Coinbase signs in with Coinbase accounts.
//
// Register the application at https://www.coinbase.com/settings/api with the callback URL
// {origin}/auth/callback/coinbase. Environment: AUTH_COINBASE_ID, AUTH_COINBASE_SECRET.
func Coinbase(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "coinbase", Name: "Coinbase", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://login.coinbase.com/oauth2/auth"},
		Token:         core.Endpoint{URL: "https://login.coinbase.com/oauth2/token"},
		Userinfo:      core.Endpoint{URL: "https://api.coinbase.com/v2/user"},
		Scope:         "wallet:user:email wallet:user:read",
		Profile:       mapping{id: "data.id", name: "data.name", email: "data.email", image: "data.avatar_url"}.person(),
	}, options)
}
