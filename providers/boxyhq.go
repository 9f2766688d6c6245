package providers

import (
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// BoxyHQSAML signs in with BoxyHQ SAML accounts.
//
// Register the application at the admin interface of your installation with the callback URL
// {origin}/auth/callback/boxyhq-saml. Environment: AUTH_BOXYHQ_SAML_ID, AUTH_BOXYHQ_SAML_SECRET,
// AUTH_BOXYHQ_SAML_ISSUER.
//
// ClientID and ClientSecret are those of a SAML connection, or "dummy" with the parameters tenant and product in
// Options.AuthorizationParams. The project's new name is Ory Polis.
func BoxyHQSAML(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "boxyhq-saml", Name: "BoxyHQ SAML", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "{base}/api/oauth/authorize", Params: url.Values{"provider": {"saml"}}},
		Token:         core.Endpoint{URL: "{base}/api/oauth/token"},
		Userinfo:      core.Endpoint{URL: "{base}/api/oauth/userinfo"},
		Profile:       mapping{id: "id", name: "firstName + lastName", email: "email"}.person(),
	}, options)
}
