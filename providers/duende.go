package providers

import "github.com/latchkey-go/latchkey/core"

// DuendeIdentityServer6 signs in with DuendeIdentityServer6 accounts.
//
// Register the application at your installation with the callback URL {origin}/auth/callback/duende-identity-server6.
// Environment: AUTH_DUENDE_IDENTITY_SERVER6_ID, AUTH_DUENDE_IDENTITY_SERVER6_SECRET,
// AUTH_DUENDE_IDENTITY_SERVER6_ISSUER.
//
// Later major versions use the same protocol.
func DuendeIdentityServer6(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "duende-identity-server6", Name: "DuendeIdentityServer6", Type: core.TypeOIDC,
	}, options)
}
