package providers

import (
	"fmt"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// TwitterOptions changes the Twitter provider. The zero value changes nothing.
type TwitterOptions struct {
	Options
	// Version is that of OAuth, "2.0" or "1.0a"; empty: 2.0.
	Version string
}

// Twitter signs in with Twitter accounts.
//
// Register the application at https://developer.x.com/en/portal/projects-and-apps with the callback URL
// {origin}/auth/callback/twitter. Environment: AUTH_TWITTER_ID, AUTH_TWITTER_SECRET.
//
// The service is called X now. For an e-mail ask for the scope users.email and set Userinfo.Params of the provider to
// user.fields=profile_image_url,confirmed_email.
//
// The Version "1.0a" is [TwitterOAuth1]; core.New refuses versions that are neither that nor "2.0".
func Twitter(options ...TwitterOptions) *core.OAuthProvider {
	o, fault := one(options)
	switch o.Version {
	case "", "2.0":
	case "1.0", "1.0a":
		return TwitterOAuth1(o.Options)
	default:
		fault = fmt.Errorf(`TwitterOptions.Version is %.32q: use "2.0", the default, or "1.0a"`, o.Version)
	}
	return o.apply(&core.OAuthProvider{
		ID: "twitter", Name: "Twitter", Type: core.TypeOAuth, Fault: fault,
		Authorization: core.Endpoint{URL: "https://x.com/i/oauth2/authorize"},
		Token:         core.Endpoint{URL: "https://api.x.com/2/oauth2/token"},
		Userinfo: core.Endpoint{
			URL:    "https://api.x.com/2/users/me",
			Params: url.Values{"user.fields": {"profile_image_url"}},
		},
		Scope:  "users.read tweet.read offline.access",
		Checks: []core.Check{core.CheckPKCE, core.CheckState},
		Profile: mapping{
			id: "data.id", name: "data.name", email: "data.email", image: "data.profile_image_url",
		}.person(),
		Style: core.Style{Background: "#1da1f2", Text: "#fff"},
	})
}
