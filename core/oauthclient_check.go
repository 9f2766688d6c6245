package core

import (
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// check reports the configuration errors of a completed provider.
func (o *oauthClient) check(faults *ConfigError) {
	switch o.Type {
	case TypeOAuth:
		o.checkEndpoints(faults)
	case TypeOIDC:
		if o.Issuer == "" {
			faults.add(ErrInvalidEndpoints, "provider %q has no Issuer: set it, or %s in the environment, to the issuer's URL",
				o.ID, EnvName(o.ID, "ISSUER"))
		}
	default:
		faults.add(ErrInvalidConfig, "provider %q has the Type %q: use TypeOAuth or TypeOIDC", o.ID, o.Type)
	}
	if o.ClientID == "" {
		faults.add(ErrInvalidConfig, "provider %q has no ClientID: set it, or %s in the environment",
			o.ID, EnvName(o.ID, "ID"))
	}
	o.checkCredentials(faults)
	if o.Logout == True && o.Type != TypeOIDC && o.SignOutURL == nil {
		faults.add(ErrInvalidConfig, "provider %q has Logout On and the Type %q: only OpenID Connect (TypeOIDC) says where "+
			"to sign out, leave Logout out or set SignOutURL", o.ID, o.Type)
	}
	o.checkResponse(faults)
	for _, at := range []struct{ field, url string }{
		{"Issuer", o.Issuer}, {"Authorization.URL", o.Authorization.URL}, {"Token.URL", o.Token.URL},
		{"Userinfo.URL", o.Userinfo.URL}, {"RequestToken.URL", o.RequestToken.URL}, {"RedirectProxyURL", o.RedirectProxyURL},
	} {
		if at.url == "" {
			continue
		}
		if err := checkEndpoint(at.url, o.AllowInsecureHTTP == True && at.field != "RedirectProxyURL"); err != nil {
			faults.add(ErrInvalidEndpoints, "provider %q: %s: %v", o.ID, at.field, err)
		}
	}
	o.checkClientAuth(faults)
	for _, k := range o.Checks {
		if k != CheckPKCE && k != CheckState && k != CheckNonce {
			faults.add(ErrInvalidConfig, "provider %q: unknown check %q", o.ID, k)
		}
	}
}

// checkCredentials rejects a client ID or secret with a line break or surrounding spaces. No service issues one: the
// cause is a file or a Kubernetes secret with a trailing line break, and the service would only report an unknown
// client.
func (o *oauthClient) checkCredentials(faults *ConfigError) {
	for _, each := range []struct{ field, value string }{
		{"ClientID", o.ClientID}, {"ClientSecret", string(o.ClientSecret)}, {"ClientKeyID", o.ClientKeyID},
	} {
		if each.value == strings.TrimSpace(each.value) && exactjson.IsClean(each.value) &&
			!strings.Contains(each.value, byteOrderMark) {
			continue
		}
		variable := EnvName(o.ID, strings.ToUpper(strings.TrimPrefix(each.field, "Client")))
		if each.field == "ClientKeyID" {
			variable = EnvName(o.ID, "PRIVATE_KEY")
		}
		faults.add(ErrInvalidConfig, "provider %q: %s (%s in the environment) has a line break, a control character or "+
			"blanks around it: remove them (printf and echo -n write none at the end)", o.ID, each.field, variable)
	}
}

// byteOrderMark starts some text files and is not visible.
const byteOrderMark = "\ufeff"

// checkEndpoints reports missing endpoints of an OAuth provider without discovery.
func (o *oauthClient) checkEndpoints(faults *ConfigError) {
	missing := ""
	switch {
	case o.Issuer != "": // they are discovered
	case o.Authorization.URL == "":
		missing = "Authorization"
	case o.Token.URL == "":
		missing = "Token"
	case o.Userinfo.URL == "" && o.FetchUserinfo == nil:
		missing = "Userinfo"
	}
	if o.RequestToken.URL != "" && (o.Authorization.URL == "" || o.Token.URL == "") {
		faults.add(ErrInvalidEndpoints,
			"provider %q uses OAuth 1.0a, where nothing is discovered: set Authorization.URL and Token.URL", o.ID)
	}
	if missing != "" {
		faults.add(ErrInvalidEndpoints, "provider %q has neither an Issuer nor %s.URL: set one of them", o.ID, missing)
	}
}

// checkClientAuth reports missing client credentials.
func (o *oauthClient) checkClientAuth(faults *ConfigError) {
	switch o.ClientAuth {
	case ClientSecretBasic, ClientSecretPost, ClientSecretJWT:
		if o.ClientSecret == "" && o.MakeClientSecret == nil {
			faults.add(ErrInvalidConfig, "provider %q has no ClientSecret: set it, or %s in the environment, "+
				"or ClientAuth to ClientAuthNone for a public client", o.ID, EnvName(o.ID, "SECRET"))
		}
	case PrivateKeyJWT:
		if o.ClientKey == nil {
			faults.add(ErrInvalidConfig, "provider %q uses private_key_jwt without ClientKey: set it "+
				"(ParseClientKey reads PEM and JWK), or %s or %s in the environment",
				o.ID, EnvName(o.ID, "PRIVATE_KEY"), EnvName(o.ID, "PRIVATE_KEY_FILE"))
		}
	case ClientAuthNone:
	default:
		faults.add(ErrInvalidConfig, "provider %q: unknown ClientAuth %q", o.ID, o.ClientAuth)
	}
}

// checkResponse rejects response modes and types that core does not support. Otherwise each sign-in would fail at the
// callback.
func (o *oauthClient) checkResponse(faults *ConfigError) {
	asked := map[string][]string{}
	if u, err := url.Parse(o.Authorization.URL); err == nil {
		asked = u.Query()
	}
	for _, each := range []struct {
		name  string
		known []string
		why   string
	}{
		{
			"response_mode", []string{"query", "form_post"},
			`use "query", the default, or "form_post" (a fragment never reaches a server, ` +
				`and signed responses, JARM, are not read)`,
		},
		{
			"response_type", []string{"code", "Assertion"}, // Azure DevOps uses the name Assertion for a code
			`use "code", the default (tokens come from the token endpoint alone: no implicit and no hybrid flow)`,
		},
	} {
		for _, value := range slices.Concat(asked[each.name], o.Authorization.Params[each.name]) {
			if !slices.Contains(each.known, value) {
				faults.add(ErrInvalidConfig, "provider %q: Authorization has the %s %.60q: %s", o.ID, each.name, value, each.why)
			}
		}
	}
}
