package providers

import (
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Atlassian signs in with Atlassian accounts.
//
// Register the application at https://developer.atlassian.com/console/myapps/ with the callback URL
// {origin}/auth/callback/atlassian. Environment: AUTH_ATLASSIAN_ID, AUTH_ATLASSIAN_SECRET.
func Atlassian(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "atlassian", Name: "Atlassian", Type: core.TypeOAuth,
		Authorization: core.Endpoint{
			URL:    "https://auth.atlassian.com/authorize",
			Params: url.Values{"audience": {"api.atlassian.com"}},
		},
		Token:    core.Endpoint{URL: "https://auth.atlassian.com/oauth/token"},
		Userinfo: core.Endpoint{URL: "https://api.atlassian.com/me"},
		Scope:    "read:me",
		Checks:   []core.Check{core.CheckState},
		RefreshTokenRevoked: func(response core.Profile) bool { // with the error unauthorized_client
			return strings.Contains(response.Text("error_description"), "refresh_token is invalid")
		},
		Profile: mapping{id: "account_id", name: "name", email: "email", image: "picture"}.person(),
		Style:   core.Style{Mark: markAtlassian()},
	}, options)
}
