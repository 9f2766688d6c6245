package providers

import "github.com/latchkey-go/latchkey/core"

// Passage signs in with Passage accounts.
//
// Register the application at https://console.passage.id with the callback URL {origin}/auth/callback/passage.
// Environment: AUTH_PASSAGE_ID, AUTH_PASSAGE_SECRET, AUTH_PASSAGE_ISSUER.
//
// Deprecated: the service was retired in January 2026.
func Passage(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "passage", Name: "Passage", Type: core.TypeOIDC,
	}, options)
}
