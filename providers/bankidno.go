package providers

import (
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// BankIDNorway signs in with BankID Norge accounts.
//
// Register the application at https://www.bankid.no/en/company with the callback URL {origin}/auth/callback/bankid-no.
// Environment: AUTH_BANKID_NO_ID, AUTH_BANKID_NO_SECRET.
//
// The userinfo endpoint returns the profile as a signed JWT.
func BankIDNorway(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "bankid-no", Name: "BankID Norge", Type: core.TypeOIDC,
		Issuer:              "https://auth.bankid.no/auth/realms/prod",
		Authorization:       core.Endpoint{Params: url.Values{"login_hint": {"BIS"}, "ui_locales": {"no"}}},
		Checks:              []core.Check{core.CheckPKCE, core.CheckState, core.CheckNonce},
		ClientAuth:          core.ClientSecretPost,
		UserinfoAlg:         "RS256",
		ProfileFromUserinfo: true,
		Profile:             mapping{id: "sub", name: "name", email: "email"}.person(),
	}, options)
}
