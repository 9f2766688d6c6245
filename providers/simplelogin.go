package providers

import "github.com/latchkey-go/latchkey/core"

// SimpleLogin signs in with SimpleLogin accounts.
//
// Register the application at https://app.simplelogin.io/developer with the callback URL
// {origin}/auth/callback/simplelogin. Environment: AUTH_SIMPLELOGIN_ID, AUTH_SIMPLELOGIN_SECRET.
func SimpleLogin(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "simplelogin", Name: "SimpleLogin", Type: core.TypeOIDC,
		Issuer:  "https://app.simplelogin.io",
		Profile: mapping{id: "sub", name: "name", email: "email", image: "avatar_url"}.person(),
		Style:   core.Style{Mark: markSimplelogin()},
	}, options)
}
