package providers

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// MicrosoftEntraID signs in with work, school and personal Microsoft accounts.
//
// Register the application at https://entra.microsoft.com with the callback URL
// {origin}/auth/callback/microsoft-entra-id. Environment: AUTH_MICROSOFT_ENTRA_ID_ID, AUTH_MICROSOFT_ENTRA_ID_SECRET,
// AUTH_MICROSOFT_ENTRA_ID_ISSUER.
//
// Without an issuer, users of all tenants can sign in. To restrict this, set the issuer to
// https://login.microsoftonline.com/<tenant>/v2.0, where <tenant> is the tenant's ID, one of its domains, or
// "consumers" for personal accounts. The hosts login.microsoftonline.us and login.partner.microsoftonline.cn work in
// the same way. Or set Tenants of the provider.
//
// The owner of a tenant can put any email address into an account there. Accounts are therefore linked by email only if
// the claim xms_edov says that the tenant owns the address's domain. The picture has 48 pixels; see [EntraProfile].
func MicrosoftEntraID(options ...Options) *core.OAuthProvider {
	return entra("microsoft-entra-id", "Microsoft Entra ID", options)
}

// AzureAD is [MicrosoftEntraID] under its older ID, for accounts that were stored with it. Environment:
// AUTH_AZURE_AD_ID, AUTH_AZURE_AD_SECRET, AUTH_AZURE_AD_ISSUER.
//
// Deprecated: the service's new name is Microsoft Entra ID.
func AzureAD(options ...Options) *core.OAuthProvider {
	return entra("azure-ad", "Azure Active Directory", options)
}

func entra(id, name string, options []Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: id, Name: name, Type: core.TypeOIDC,
		DefaultIssuer: "https://login.microsoftonline.com/common/v2.0",
		Scope:         "openid profile email User.Read",
		AcceptIssuer:  entraIssuer,
		Profile:       EntraProfile(48),
		EmailVerified: func(p core.Profile) bool {
			return p.Bool("xms_edov") || p.Text("xms_edov") == "1" || p.Text("xms_edov") == "true"
		},
		Style: core.Style{Mark: markMicrosoft()},
	}, options)
}

// entraClouds maps the sign-in hosts of Entra ID to the Microsoft Graph host of the same cloud.
var entraClouds = map[string]string{
	"login.microsoftonline.com":        "graph.microsoft.com",
	"login.microsoftonline.us":         "graph.microsoft.us",
	"login.partner.microsoftonline.cn": "microsoftgraph.chinacloudapi.cn",
	"login.chinacloudapi.cn":           "microsoftgraph.chinacloudapi.cn",
}

// ciamHost is the suffix of the hosts of Microsoft Entra External ID tenants.
const ciamHost = ".ciamlogin.com"

// entraIssuer reports whether a tenant's discovery document may name the issuer found. For a tenant that is configured
// by name, that issuer contains its ID, on the hosts of External ID also in the host name.
func entraIssuer(configured, found string) bool {
	asked, err := url.Parse(configured)
	named, err2 := url.Parse(found)
	if err != nil || err2 != nil {
		return false
	}
	from := strings.Split(strings.Trim(asked.Path, "/"), "/")
	to := strings.Split(strings.TrimPrefix(named.Path, "/"), "/")
	if strings.HasSuffix(asked.Host, ciamHost) { // External ID: the host name also identifies the tenant
		if named.Host != to[0]+ciamHost {
			return false
		}
		named.Host = asked.Host
	} else if entraClouds[strings.ToLower(asked.Host)] == "" {
		return false
	}
	return sameHost(asked, named) && len(from) == 2 && len(to) == 2 && from[1] == "v2.0" && to[1] == "v2.0" &&
		sameTenant(from[0], to[0])
}

// EntraProfile is the profile mapping of [MicrosoftEntraID] with another picture size: 48, 64, 96, 120, 240, 360, 432,
// 504 or 648 pixels. With 0 there is no picture, which saves a request to Microsoft Graph.
func EntraProfile(photoSize int) func(context.Context, core.Profile, *core.TokenSet) (*core.Person, error) {
	claims := mapping{id: "sub", name: "name", email: "email"}.person()
	return func(ctx context.Context, p core.Profile, tokens *core.TokenSet) (*core.Person, error) {
		person, err := claims(ctx, p, tokens)
		if err == nil && photoSize > 0 {
			person.Image = entraPhoto(ctx, tokens, photoSize)
		}
		if err == nil && person.Image == "" {
			person.Null |= store.NullImage
		}
		return person, err
	}
}

// entraGraph returns the Microsoft Graph host of the cloud that issued the tokens.
func entraGraph(tokens *core.TokenSet) string {
	if tokens.Provider != nil {
		if issuer, err := url.Parse(tokens.Provider.Issuer); err == nil && entraClouds[issuer.Host] != "" {
			return entraClouds[issuer.Host]
		}
	}
	return "graph.microsoft.com"
}

// entraPhoto returns the picture as a data URL, or "" if there is none or the request fails.
func entraPhoto(ctx context.Context, tokens *core.TokenSet, size int) string {
	address := fmt.Sprintf("https://%[2]s/v1.0/me/photos/%[1]dx%[1]d/$value", size, entraGraph(tokens))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return ""
	}
	request.Header.Set("Authorization", "Bearer "+string(tokens.AccessToken))
	request.Header.Set("Accept", "image/jpeg")
	picture, err := tokens.Send(request)
	if err != nil {
		return ""
	}
	return "data:image/jpeg;base64, " + base64.StdEncoding.EncodeToString(picture)
}
