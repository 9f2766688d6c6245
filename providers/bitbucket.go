package providers

import "github.com/latchkey-go/latchkey/core"

// Bitbucket signs in with Bitbucket accounts.
//
// Register the application at https://support.atlassian.com/bitbucket-cloud/docs/use-oauth-on-bitbucket-cloud/ with the
// callback URL {origin}/auth/callback/bitbucket. Environment: AUTH_BITBUCKET_ID, AUTH_BITBUCKET_SECRET.
//
// The profile has no email address.
func Bitbucket(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "bitbucket", Name: "Bitbucket", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://bitbucket.org/site/oauth2/authorize"},
		Token:         core.Endpoint{URL: "https://bitbucket.org/site/oauth2/access_token"},
		Userinfo:      core.Endpoint{URL: "https://api.bitbucket.org/2.0/user"},
		Scope:         "account",
		Profile:       mapping{id: "account_id", name: "display_name ?? username", image: "links.avatar.href"}.person(),
		Style:         core.Style{Mark: markBitbucket()},
	}, options)
}
