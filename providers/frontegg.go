package providers

import "github.com/latchkey-go/latchkey/core"

// Frontegg signs in with Frontegg accounts.
//
// Register the application at https://portal.frontegg.com with the callback URL {origin}/auth/callback/frontegg.
// Environment: AUTH_FRONTEGG_ID, AUTH_FRONTEGG_SECRET, AUTH_FRONTEGG_ISSUER.
//
// BaseURL is https://<subdomain>.frontegg.com.
func Frontegg(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "frontegg", Name: "Frontegg", Type: core.TypeOIDC,
		Issuer:        "{base}",
		Authorization: core.Endpoint{URL: "{base}/oauth/authorize"},
		Token:         core.Endpoint{URL: "{base}/oauth/token"},
		Userinfo:      core.Endpoint{URL: "{base}/identity/resources/users/v2/me"},
	}, options)
}
