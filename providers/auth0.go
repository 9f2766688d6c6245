package providers

import (
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Auth0 signs in with Auth0 accounts.
//
// Register the application at https://manage.auth0.com/dashboard with the callback URL {origin}/auth/callback/auth0.
// Environment: AUTH_AUTH0_ID, AUTH_AUTH0_SECRET, AUTH_AUTH0_ISSUER.
//
// The issuer is https://<tenant>.<region>.auth0.com/, with the trailing slash.
//
// If Logout is core.True, add {origin}/auth/logout/auth0 to the allowed logout URLs. For tenants that do not publish
// the standard sign-out endpoint, the older endpoint /v2/logout is used, which has other parameters.
func Auth0(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "auth0", Name: "Auth0", Type: core.TypeOIDC,
		SignOutURL: auth0SignOut,
		Style:      core.Style{Mark: markAuth0()},
	}, options)
}

// auth0SignOut returns the URL of the standard sign-out endpoint, or of Auth0's older one.
func auth0SignOut(r *core.SignOutRequest) (string, error) {
	if r.Endpoint != "" {
		return r.StandardURL()
	}
	return signOutAt(strings.TrimSuffix(r.Issuer, "/")+"/v2/logout",
		url.Values{"client_id": {r.ClientID}, "returnTo": {r.RedirectURI}})
}
