package providers

import "github.com/latchkey-go/latchkey/core"

// OIDC signs in with any OpenID Connect issuer. Its endpoints and keys are read from its discovery document.
//
// Callback URL to register: {origin}/auth/callback/{id}. Environment: AUTH_<ID>_ID, AUTH_<ID>_SECRET, AUTH_<ID>_ISSUER.
func OIDC(id, issuer string, options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: id, Name: id, Type: core.TypeOIDC, Issuer: issuer,
		AcceptIssuer: entraIssuer, // accepts only hosts of Microsoft
		Checks:       []core.Check{core.CheckPKCE, core.CheckState, core.CheckNonce},
	}, options)
}
