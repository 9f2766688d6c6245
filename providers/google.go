package providers

import "github.com/latchkey-go/latchkey/core"

// Google signs in with Google accounts.
//
// Register a client at https://console.cloud.google.com/apis/credentials with the callback URL {origin}/auth/callback/google.
// Environment: AUTH_GOOGLE_ID, AUTH_GOOGLE_SECRET.
func Google(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "google", Name: "Google", Type: core.TypeOIDC, Issuer: "https://accounts.google.com",
		Style: core.Style{Background: "#1a73e8", Text: "#fff"},
	}, options)
}
