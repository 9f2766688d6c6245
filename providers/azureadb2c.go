package providers

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// AzureADB2C signs in with Azure AD B2C accounts.
//
// Register the application at https://portal.azure.com with the callback URL {origin}/auth/callback/azure-ad-b2c.
// Environment: AUTH_AZURE_AD_B2C_ID, AUTH_AZURE_AD_B2C_SECRET, AUTH_AZURE_AD_B2C_ISSUER.
//
// The issuer is https://<tenant>.b2clogin.com/<tenant>.onmicrosoft.com/<policy>/v2.0, or the same path on a custom
// domain. The discovery document there names the issuer https://<host>/<tenant ID>/v2.0/, which ID tokens must contain.
//
// Deprecated: the service is not sold to new customers since May 2025. For its successor, Entra External ID, use
// [MicrosoftEntraID] or [OIDC].
func AzureADB2C(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "azure-ad-b2c", Name: "Azure AD B2C", Type: core.TypeOIDC,
		AcceptIssuer: b2cIssuer,
		Profile:      mapping{id: "sub", name: "name ?? preferred_username", email: "emails.0"}.person(),
		Style:        core.Style{Mark: markMicrosoft()},
	}, options)
}

// b2cIssuer reports whether the discovery document of a B2C policy may name the issuer found: an issuer on the same
// host that contains the tenant's ID, with the policy ("/tfp/…", depending on a setting of the policy) or without it.
func b2cIssuer(configured, found string) bool {
	asked, err := url.Parse(configured)
	named, err2 := url.Parse(found)
	if err != nil || err2 != nil || !sameHost(asked, named) {
		return false
	}
	from := strings.Split(strings.Trim(asked.Path, "/"), "/")
	to := strings.Split(strings.Trim(named.Path, "/"), "/")
	if from[0] == "tfp" {
		from = from[1:]
	}
	if to[0] == "tfp" {
		if to = to[1:]; len(to) != 3 || len(from) != 3 || !strings.EqualFold(to[1], from[1]) {
			return false
		}
		to = []string{to[0], to[2]}
	}
	return len(from) == 3 && from[2] == "v2.0" && len(to) == 2 && to[1] == "v2.0" && sameTenant(from[0], to[0])
}

// guid matches a tenant ID.
var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// sameTenant reports whether id can be the ID of the configured tenant. The ID of a tenant that is configured by name
// is not known, so any ID matches.
func sameTenant(configured, id string) bool {
	return guid.MatchString(id) && (!guid.MatchString(configured) || strings.EqualFold(configured, id))
}

// sameHost reports whether two URLs have the same host and no user or query.
func sameHost(a, b *url.URL) bool {
	plain := b.User == nil && b.RawQuery == "" && !b.ForceQuery && b.Fragment == "" && b.RawPath == ""
	return plain && a.Scheme == "https" && b.Scheme == "https" && strings.EqualFold(a.Host, b.Host)
}
