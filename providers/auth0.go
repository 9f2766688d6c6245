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
// The issuer is https://<tenant>.<region>.auth0.com/, with the slash at its end.
//
// With Logout set to core.On, add {origin}/auth/logout/auth0 to the allowed logout URLs. Tenants that do not publish
// the standard sign-out endpoint sign out at /v2/logout, which has other parameters.
func Auth0(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "auth0", Name: "Auth0", Type: core.TypeOIDC,
		SignOutURL: auth0SignOut,
		Style:      core.Style{Mark: markAuth0()},
	}, options)
}

// auth0SignOut returns the address of the standard sign-out endpoint, or of the older one of Auth0.
func auth0SignOut(r *core.SignOutRequest) (string, error) {
	if r.Endpoint != "" {
		return r.StandardURL()
	}
	return signOutAt(strings.TrimSuffix(r.Issuer, "/")+"/v2/logout",
		url.Values{"client_id": {r.ClientID}, "returnTo": {r.RedirectURI}})
}
