package providers

import "github.com/latchkey-go/latchkey/core"

// Webex signs in with Webex accounts.
//
// Register the application at https://developer.webex.com/my-apps with the callback URL {origin}/auth/callback/webex.
// Environment: AUTH_WEBEX_ID, AUTH_WEBEX_SECRET, AUTH_WEBEX_ISSUER.
func Webex(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "webex", Name: "Webex", Type: core.TypeOAuth,
		DefaultIssuer: "https://webexapis.com/v1",
		Authorization: core.Endpoint{URL: "{base}/authorize"},
		Token:         core.Endpoint{URL: "{base}/access_token"},
		Userinfo:      core.Endpoint{URL: "{base}/people/me"},
		Scope:         "spark:kms spark:people_read",
		Profile:       mapping{id: "id", name: "displayName", email: "emails.0", image: "avatar"}.person(),
		Style:         core.Style{Mark: markWebex()},
	}, options)
}
