package providers

import (
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// UnitedEffects signs in with United Effects accounts.
//
// Register the application at https://core.unitedeffects.com with the callback URL
// {origin}/auth/callback/united-effects. Environment: AUTH_UNITED_EFFECTS_ID, AUTH_UNITED_EFFECTS_SECRET,
// AUTH_UNITED_EFFECTS_ISSUER.
//
// BaseURL is https://auth.unitedeffects.com/<group>, the issuer.
func UnitedEffects(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "united-effects", Name: "United Effects", Type: core.TypeOIDC,
		Issuer:        "{base}",
		Authorization: core.Endpoint{Params: url.Values{"resource": {"{base}"}}},
		Scope:         "openid email profile",
	}, options)
}
