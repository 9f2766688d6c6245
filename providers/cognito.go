package providers

import (
	"errors"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// Cognito signs in with Cognito accounts.
//
// Register the application at https://console.aws.amazon.com/cognito with the callback URL
// {origin}/auth/callback/cognito. Environment: AUTH_COGNITO_ID, AUTH_COGNITO_SECRET, AUTH_COGNITO_ISSUER.
//
// The issuer is https://cognito-idp.<region>.amazonaws.com/<pool>.
//
// If Logout is core.True, add {origin}/auth/logout/cognito to the allowed sign-out URLs of the app client. Cognito's
// sign-out parameters differ from the standard, and it returns no state.
func Cognito(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "cognito", Name: "Cognito", Type: core.TypeOIDC,
		// For users of federated providers Cognito generates a nonce if none is sent.
		Checks:     []core.Check{core.CheckPKCE, core.CheckState, core.CheckNonce},
		SignOutURL: cognitoSignOut,
	}, options)
}

// cognitoSignOut returns the URL of Cognito's sign-out endpoint.
func cognitoSignOut(r *core.SignOutRequest) (string, error) {
	return signOutAt(r.Endpoint, url.Values{"client_id": {r.ClientID}, "logout_uri": {r.RedirectURI}})
}

// signOutAt returns the URL of a sign-out endpoint with parameters.
func signOutAt(endpoint string, params url.Values) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || endpoint == "" {
		return "", errors.New("the provider publishes no sign-out endpoint")
	}
	query := u.Query()
	for name, values := range params {
		query[name] = values
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}
