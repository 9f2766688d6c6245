package providers

import (
	"context"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Bungie signs in with Bungie accounts. apiKey is shown next to the client secret.
//
// Register the application at https://www.bungie.net/en/Application with the callback URL
// {origin}/auth/callback/bungie. Environment: AUTH_BUNGIE_ID, AUTH_BUNGIE_SECRET.
//
// The service supports no scope parameter. The profile has no email address.
func Bungie(apiKey core.Secret, options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "bungie", Name: "Bungie", Type: core.TypeOAuth,
		Authorization: core.Endpoint{
			URL:    "https://www.bungie.net/en/OAuth/Authorize",
			Params: url.Values{"reauth": {"true"}},
		},
		Token:    core.Endpoint{URL: "https://www.bungie.net/platform/app/oauth/token/"},
		Userinfo: core.Endpoint{URL: "https://www.bungie.net/Platform/User/GetMembershipsForCurrentUser/"},
		Scope:    core.NoScope,
		FetchUserinfo: func(ctx context.Context, r *core.UserinfoRequest) (core.Profile, error) {
			return r.Get(ctx, r.URL, "X-API-Key", string(apiKey))
		},
		Profile: bungiePerson,
	}, options)
}

var bungieFields = mapping{
	id: "Response.bungieNetUser.membershipId", name: "Response.bungieNetUser.displayName",
}.person()

func bungiePerson(ctx context.Context, p core.Profile, tokens *core.TokenSet) (*core.Person, error) {
	person, err := bungieFields(ctx, p, tokens)
	if path, there := at(p, []string{"Response", "bungieNetUser", "profilePicturePath"}); err == nil && there {
		person.Image = "https://www.bungie.net/" + strings.TrimPrefix(path, "/")
	}
	return person, err
}
