package providers

import "github.com/latchkey-go/latchkey/core"

// Google signs in with Google accounts.
//
// Register the application at https://console.developers.google.com/apis/credentials with the callback URL
// {origin}/auth/callback/google. Environment: AUTH_GOOGLE_ID, AUTH_GOOGLE_SECRET.
//
// For a refresh token add access_type=offline and prompt=consent in Options.AuthorizationParams.
func Google(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "google", Name: "Google", Type: core.TypeOIDC,
		Issuer: "https://accounts.google.com",
		Style:  core.Style{Mark: markGoogle()},
	}, options)
}
