package providers

import "github.com/latchkey-go/latchkey/core"

// Wikimedia signs in with Wikimedia accounts.
//
// Register the application at https://meta.wikimedia.org/wiki/Special:OAuthConsumerRegistration with the callback URL
// {origin}/auth/callback/wikimedia. Environment: AUTH_WIKIMEDIA_ID, AUTH_WIKIMEDIA_SECRET.
func Wikimedia(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "wikimedia", Name: "Wikimedia", Type: core.TypeOAuth,
		Authorization:       core.Endpoint{URL: "https://meta.wikimedia.org/w/rest.php/oauth2/authorize"},
		Token:               core.Endpoint{URL: "https://meta.wikimedia.org/w/rest.php/oauth2/access_token"},
		Userinfo:            core.Endpoint{URL: "https://meta.wikimedia.org/w/rest.php/oauth2/resource/profile"},
		Scope:               core.NoScope,
		RefreshTokenRevoked: leagueRefreshTokenRevoked,
		Profile:             mapping{id: "sub", name: "username", email: "email"}.person(),
		Style:               core.Style{Mark: markWikimedia()},
	}, options)
}
