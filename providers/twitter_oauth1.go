package providers

import (
	"context"
	"regexp"

	"github.com/latchkey-go/latchkey/core"
)

// TwitterOAuth1 signs in with accounts of X, once Twitter, through OAuth 1.0a: the only way to an e-mail address for
// apps that have the permission "request email from users".
//
// Register an app at https://developer.x.com with the callback URL {origin}/auth/callback/twitter and take its API key
// and secret. Environment: AUTH_TWITTER_ID, AUTH_TWITTER_SECRET. The account has oauth_token and oauth_token_secret in
// place of access_token and refresh_token.
func TwitterOAuth1(options ...Options) *core.OAuthProvider {
	const api = "https://api.x.com"
	return with(&core.OAuthProvider{
		ID: "twitter", Name: "Twitter", Type: core.TypeOAuth,
		RequestToken:  core.Endpoint{URL: api + "/oauth/request_token"},
		Authorization: core.Endpoint{URL: api + "/oauth/authenticate"},
		Token:         core.Endpoint{URL: api + "/oauth/access_token"},
		Userinfo:      core.Endpoint{URL: api + "/1.1/account/verify_credentials.json?include_email=true"},
		Profile:       twitterOAuth1Profile,
		Style:         core.Style{Mark: markTwitter()},
	}, options)
}

// smallPicture is how addresses of pictures of 48 pixels end; without it they are the originals.
var smallPicture = regexp.MustCompile(`_normal(\.(?:jpe?g|png|gif|webp))$`)

func twitterOAuth1Profile(_ context.Context, p core.Profile, _ *core.TokenSet) (*core.Person, error) {
	return &core.Person{
		AccountID: p.First("id_str", "id"), Name: p.First("name", "screen_name"), Email: p.Text("email"),
		Image: smallPicture.ReplaceAllString(p.Text("profile_image_url_https"), "$1"),
	}, nil
}
