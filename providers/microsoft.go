package providers

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// MicrosoftEntraID signs in with work, school and personal Microsoft accounts.
//
// Register the application at https://entra.microsoft.com with the callback URL
// {origin}/auth/callback/microsoft-entra-id. Environment: AUTH_MICROSOFT_ENTRA_ID_ID, AUTH_MICROSOFT_ENTRA_ID_SECRET,
// AUTH_MICROSOFT_ENTRA_ID_ISSUER.
//
// Without an issuer people of all tenants sign in; name yours as https://login.microsoftonline.com/<tenant>/v2.0, or
// list those you know in the Tenants of the provider. The owner of a tenant can put any address into an account there:
// accounts are linked by e-mail only where the claim xms_edov says that the tenant owns its domain. The picture is that
// of 48 pixels; see [EntraProfile].
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
		Profile:       EntraProfile(48),
		EmailProved: func(p core.Profile) bool {
			return p.Bool("xms_edov") || p.Text("xms_edov") == "1" || p.Text("xms_edov") == "true"
		},
		Style: core.Style{Mark: markMicrosoft()},
	}, options)
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

// entraPhoto is the picture as a data URL; empty when there is none, or it cannot be had.
func entraPhoto(ctx context.Context, tokens *core.TokenSet, size int) string {
	address := fmt.Sprintf("https://graph.microsoft.com/v1.0/me/photos/%[1]dx%[1]d/$value", size)
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
