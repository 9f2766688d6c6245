package providers

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// TwitterOptions changes the Twitter provider. The zero value changes nothing.
type TwitterOptions struct {
	Options
	// Version is the OAuth version, "2.0" or "1.0a". The default is "2.0".
	Version string
	// UserFields are additional fields of the profile: "description", "location", "verified". The picture is always
	// requested. They are the parameter user.fields of version 2.0. For the email address, add "confirmed_email" here and
	// "users.email" to AddScope.
	UserFields []string
	// Expansions are referenced objects to include in the profile, such as "pinned_post_id" for the posts of
	// [TwitterIncludes]. They are the parameter expansions of version 2.0.
	Expansions []string
}

// Twitter signs in with Twitter accounts.
//
// Register the application at https://developer.x.com/en/portal/projects-and-apps with the callback URL
// {origin}/auth/callback/twitter. Environment: AUTH_TWITTER_ID, AUTH_TWITTER_SECRET.
//
// The service's new name is X. For an email address, request the scope users.email with Options.AddScope and the field
// confirmed_email with UserFields.
//
// Version "1.0a" is [TwitterOAuth1]. core.New rejects other versions than these two, and fields or expansions with
// version "1.0a".
func Twitter(options ...TwitterOptions) *core.OAuthProvider {
	o, fault := one(options)
	switch o.Version {
	case "", "2.0":
	case "1.0", "1.0a":
		p := TwitterOAuth1(o.Options)
		if fault == nil && len(o.UserFields)+len(o.Expansions) > 0 {
			fault = errors.New("TwitterOptions.UserFields and Expansions require version 2.0: remove them or the Version")
		}
		p.Fault = cmp.Or(fault, p.Fault)
		return p
	default:
		fault = fmt.Errorf(`TwitterOptions.Version is %.32q: use "2.0", the default, or "1.0a"`, o.Version)
	}
	return o.apply(&core.OAuthProvider{
		ID: "twitter", Name: "Twitter", Type: core.TypeOAuth, Fault: fault,
		Authorization: core.Endpoint{URL: "https://x.com/i/oauth2/authorize"},
		Token:         core.Endpoint{URL: "https://api.x.com/2/oauth2/token"},
		Userinfo: core.Endpoint{
			URL:    "https://api.x.com/2/users/me",
			Params: o.params(),
		},
		Scope:  "users.read tweet.read offline.access",
		Checks: []core.Check{core.CheckPKCE, core.CheckState},
		Profile: mapping{
			id: "data.id", name: "data.name", email: "data.email ?? data.confirmed_email", image: "data.profile_image_url",
		}.person(),
		Style: core.Style{Mark: markTwitter()},
	})
}

// params returns the parameters of the userinfo request.
func (o *TwitterOptions) params() url.Values {
	fields := []string{"profile_image_url"}
	for _, field := range o.UserFields {
		if !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	params := url.Values{"user.fields": {strings.Join(fields, ",")}}
	if len(o.Expansions) > 0 {
		params.Set("expansions", strings.Join(o.Expansions, ","))
	}
	return params
}
