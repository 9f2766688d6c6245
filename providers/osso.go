package providers

import "github.com/latchkey-go/latchkey/core"

// Osso signs in with Osso accounts.
//
// Register the application at your installation with the callback URL {origin}/auth/callback/osso. Environment:
// AUTH_OSSO_ID, AUTH_OSSO_SECRET, AUTH_OSSO_ISSUER.
//
// BaseURL is the URL of your installation.
func Osso(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "osso", Name: "Osso", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "{base}/oauth/authorize"},
		Token:         core.Endpoint{URL: "{base}/oauth/token"},
		Userinfo:      core.Endpoint{URL: "{base}/oauth/me"},
	}, options)
}
