package providers

import (
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// NetSuite signs in with the users of one NetSuite account. accountID is its ID, such as 1234567 or 1234567-SB1.
// userinfoURL is the URL of your RESTlet that returns the current user as id, name and email.
//
// Register an integration under Setup, Integration, with the callback URL {origin}/auth/callback/netsuite. Environment:
// AUTH_NETSUITE_ID, AUTH_NETSUITE_SECRET.
func NetSuite(accountID, userinfoURL string, options ...Options) *core.OAuthProvider {
	host := strings.ToLower(accountID)
	api := "https://" + host + ".suitetalk.api.netsuite.com"
	return with(&core.OAuthProvider{
		ID: "netsuite", Name: "NetSuite", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://" + host + ".app.netsuite.com/app/login/oauth2/authorize.nl"},
		Token:         core.Endpoint{URL: api + "/services/rest/auth/oauth2/v1/token"},
		Userinfo:      core.Endpoint{URL: userinfoURL},
		Scope:         "restlets rest_webservices",
		Checks:        []core.Check{core.CheckState},
		Profile:       mapping{id: "id", name: "name", email: "email"}.person(),
	}, options)
}
