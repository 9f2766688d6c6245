package providers

import "github.com/latchkey-go/latchkey/core"

// IdentityServer4 signs in with IdentityServer4 accounts.
//
// Register the application at your installation with the callback URL {origin}/auth/callback/identity-server4.
// Environment: AUTH_IDENTITY_SERVER4_ID, AUTH_IDENTITY_SERVER4_SECRET, AUTH_IDENTITY_SERVER4_ISSUER.
//
// Deprecated: IdentityServer4 is out of support since 2022; [DuendeIdentityServer6] is its successor.
func IdentityServer4(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "identity-server4", Name: "IdentityServer4", Type: core.TypeOIDC,
	}, options)
}
