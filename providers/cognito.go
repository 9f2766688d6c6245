package providers

import "github.com/latchkey-go/latchkey/core"

// Cognito signs in with Cognito accounts.
//
// Register the application at https://console.aws.amazon.com/cognito with the callback URL
// {origin}/auth/callback/cognito. Environment: AUTH_COGNITO_ID, AUTH_COGNITO_SECRET, AUTH_COGNITO_ISSUER.
//
// The issuer is https://cognito-idp.<region>.amazonaws.com/<pool>.
func Cognito(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "cognito", Name: "Cognito", Type: core.TypeOIDC,
	}, options)
}
