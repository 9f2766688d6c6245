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
// The issuer is https://<tenant>.b2clogin.com/<tenant>.onmicrosoft.com/<policy>/v2.0, or the same on a custom domain.
// The service itself names its issuer https://<host>/<tenant ID>/v2.0/ there, which ID tokens must then carry.
//
// Deprecated: the service is not sold to new customers since May 2025. Its successor, Entra External ID, is used
// through [MicrosoftEntraID] or [OIDC].
func AzureADB2C(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "azure-ad-b2c", Name: "Azure AD B2C", Type: core.TypeOIDC,
		AcceptIssuer: b2cIssuer,
		Profile:      mapping{id: "sub", name: "name ?? preferred_username", email: "emails.0"}.person(),
		Style:        core.Style{Mark: markMicrosoft()},
	}, options)
}

// b2cIssuer reports whether a document of a B2C policy may name the issuer found: one of the same host that has the ID
// of the tenant, with the policy ("/tfp/…", a setting of the policy) or without it.
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

// guid matches the ID of a tenant.
var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// sameTenant reports whether a tenant's ID can be that of a configured tenant: a name has an unknown ID, an ID is
// itself.
func sameTenant(configured, id string) bool {
	return guid.MatchString(id) && (!guid.MatchString(configured) || strings.EqualFold(configured, id))
}

// sameHost reports whether two addresses are of one host, with neither user nor query.
func sameHost(a, b *url.URL) bool {
	plain := b.User == nil && b.RawQuery == "" && !b.ForceQuery && b.Fragment == "" && b.RawPath == ""
	return plain && a.Scheme == "https" && b.Scheme == "https" && strings.EqualFold(a.Host, b.Host)
}
