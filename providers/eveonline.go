package providers

import (
	"context"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// EVEOnline signs in with EVE Online accounts.
//
// Register the application at https://developers.eveonline.com with the callback URL {origin}/auth/callback/eveonline.
// Environment: AUTH_EVEONLINE_ID, AUTH_EVEONLINE_SECRET.
//
// The profile has no email address. The userinfo endpoint belongs to an older version of the service. If it stops
// working, read the access token, a JWT, in Options.Profile.
func EVEOnline(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "eveonline", Name: "EVE Online", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://login.eveonline.com/v2/oauth/authorize"},
		Token:         core.Endpoint{URL: "https://login.eveonline.com/v2/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://login.eveonline.com/oauth/verify"},
		Scope:         "publicData",
		Checks:        []core.Check{core.CheckState},
		Profile:       evePerson,
	}, options)
}

func evePerson(_ context.Context, p core.Profile, _ *core.TokenSet) (*core.Person, error) {
	person := &core.Person{AccountID: p.Text("CharacterID"), Name: p.Text("CharacterName")}
	if person.AccountID != "" {
		person.Image = "https://image.eveonline.com/Character/" + url.PathEscape(person.AccountID) + "_128.jpg"
	}
	return person, nil
}
