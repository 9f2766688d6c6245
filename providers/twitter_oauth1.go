package providers

import (
	"context"
	"regexp"

	"github.com/latchkey-go/latchkey/core"
)

// TwitterOAuth1 signs in with accounts of X, formerly Twitter, with OAuth 1.0a. Apps with the permission "request email
// from users" get the email address only in this way.
//
// Register an app at https://developer.x.com with the callback URL {origin}/auth/callback/twitter and use its API key
// and secret. Environment: AUTH_TWITTER_ID, AUTH_TWITTER_SECRET. The account contains oauth_token and
// oauth_token_secret instead of access_token and refresh_token.
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

// smallPicture matches the suffix of pictures of 48 pixels. Without it, the URL is that of the original.
var smallPicture = regexp.MustCompile(`_normal(\.(?:jpe?g|png|gif|webp))$`)

func twitterOAuth1Profile(_ context.Context, p core.Profile, _ *core.TokenSet) (*core.Person, error) {
	return &core.Person{
		AccountID: p.First("id_str", "id"), Name: p.First("name", "screen_name"), Email: p.Text("email"),
		Image: smallPicture.ReplaceAllString(p.Text("profile_image_url_https"), "$1"),
	}, nil
}
