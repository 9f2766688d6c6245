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
// Without an issuer people of all tenants sign in. Name yours as https://login.microsoftonline.com/<tenant>/v2.0, where
// <tenant> is its ID, one of its domains, or "consumers" for personal accounts, or the same at login.microsoftonline.us
// or login.partner.microsoftonline.cn; or list those you know in the Tenants of the provider. The owner of a tenant can
// put any address into an account there: accounts are linked by e-mail only where the claim xms_edov says that the
// tenant owns its domain. The picture is that of 48 pixels; see [EntraProfile].
func MicrosoftEntraID(options ...Options) *core.OAuthProvider {
	return entra("microsoft-entra-id", "Microsoft Entra ID", options)
}

// AzureAD is [MicrosoftEntraID] under its older id, for accounts that were stored with it. Environment:
// AUTH_AZURE_AD_ID, AUTH_AZURE_AD_SECRET, AUTH_AZURE_AD_ISSUER.
//
// Deprecated: the service is called Microsoft Entra ID now.
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
		EmailProved: func(p core.Profile) bool {
			return p.Bool("xms_edov") || p.Text("xms_edov") == "1" || p.Text("xms_edov") == "true"
		},
		Style: core.Style{Mark: markMicrosoft()},
	}, options)
}

// entraClouds are the hosts that sign in with Entra ID, each with the Microsoft Graph of its cloud.
var entraClouds = map[string]string{
	"login.microsoftonline.com":        "graph.microsoft.com",
	"login.microsoftonline.us":         "graph.microsoft.us",
	"login.partner.microsoftonline.cn": "microsoftgraph.chinacloudapi.cn",
	"login.chinacloudapi.cn":           "microsoftgraph.chinacloudapi.cn",
}

// ciamHost ends the hosts of tenants of Microsoft Entra External ID.
const ciamHost = ".ciamlogin.com"

// entraIssuer reports whether the document of a tenant may name the issuer found: a tenant that is configured by name
// has its ID there, and on the hosts of External ID also in the name of the host.
func entraIssuer(configured, found string) bool {
	asked, err := url.Parse(configured)
	named, err2 := url.Parse(found)
	if err != nil || err2 != nil {
		return false
	}
	from := strings.Split(strings.Trim(asked.Path, "/"), "/")
	to := strings.Split(strings.TrimPrefix(named.Path, "/"), "/")
	if strings.HasSuffix(asked.Host, ciamHost) { // External ID: the tenant is the name of the host, too
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

// EntraProfile is the profile mapping of [MicrosoftEntraID] with a picture of another size: 48, 64, 96, 120, 240, 360,
// 432, 504 or 648 pixels. Zero: no picture, which spares a request to Microsoft Graph.
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

// entraGraph returns the host of Microsoft Graph in the cloud that issued the tokens.
func entraGraph(tokens *core.TokenSet) string {
	if tokens.Provider != nil {
		if issuer, err := url.Parse(tokens.Provider.Issuer); err == nil && entraClouds[issuer.Host] != "" {
			return entraClouds[issuer.Host]
		}
	}
	return "graph.microsoft.com"
}

// entraPhoto is the picture as a data URL; empty when there is none, or it cannot be had.
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
