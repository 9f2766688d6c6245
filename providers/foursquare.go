package providers

import (
	"context"
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Foursquare signs in with Foursquare accounts.
//
// Register the application at https://foursquare.com/developers/ with the callback URL
// {origin}/auth/callback/foursquare. Environment: AUTH_FOURSQUARE_ID, AUTH_FOURSQUARE_SECRET.
//
// The parameter v of the provider's Userinfo is the API version, a date.
func Foursquare(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "foursquare", Name: "Foursquare", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://foursquare.com/oauth2/authenticate"},
		Token:         core.Endpoint{URL: "https://foursquare.com/oauth2/access_token"},
		Userinfo:      core.Endpoint{URL: "https://api.foursquare.com/v2/users/self", Params: url.Values{"v": {"20230131"}}},
		FetchUserinfo: func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
			// The service reads the token from the query and not from a header.
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
			if err != nil {
				return nil, err
			}
			query := request.URL.Query()
			query.Set("oauth_token", string(r.Tokens.AccessToken))
			request.URL.RawQuery = query.Encode()
			return r.Do(request)
		},
		Profile: foursquarePerson,
		Style:   core.Style{Mark: markFoursquare()},
	}, options)
}

var foursquareFields = mapping{
	id: "response.user.id", name: "response.user.firstName + response.user.lastName",
	email: "response.user.contact.email",
}.person()

func foursquarePerson(ctx context.Context, p core.Profile, tokens *core.TokenSet) (*core.Person, error) {
	person, err := foursquareFields(ctx, p, tokens)
	prefix, suffix := text(p, "response.user.photo.prefix"), text(p, "response.user.photo.suffix")
	if err == nil && prefix != "" && suffix != "" {
		person.Image = prefix + "original" + suffix
	}
	return person, err
}
