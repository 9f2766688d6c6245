package providers

import (
	"bytes"
	"context"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
)

// AzureDevOps signs in with Azure DevOps accounts.
//
// Register the application at https://app.vsaex.visualstudio.com/app/register with the callback URL
// {origin}/auth/callback/azure-devops. Environment: AUTH_AZURE_DEVOPS_ID, AUTH_AZURE_DEVOPS_SECRET.
//
// Deprecated: the service registers no new applications since April 2025, and its removal is planned for 2026. Use
// [MicrosoftEntraID].
func AzureDevOps(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "azure-devops", Name: "Azure DevOps", Type: core.TypeOAuth,
		Authorization: core.Endpoint{
			URL:    "https://app.vssps.visualstudio.com/oauth2/authorize",
			Params: url.Values{"response_type": {"Assertion"}},
		},
		Token: core.Endpoint{URL: "https://app.vssps.visualstudio.com/oauth2/token", Params: url.Values{
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
			"client_assertion":      {"{client_secret}"},
			"grant_type":            {"urn:ietf:params:oauth:grant-type:jwt-bearer"},
			"assertion":             {"{code}"},
		}},
		ConformToken: func(body []byte) ([]byte, error) { // it names the type bearer differently
			return conformToken(bytes.Replace(body, []byte(`"jwt-bearer"`), []byte(`"bearer"`), 1))
		},
		Userinfo: core.Endpoint{
			URL:    "https://app.vssps.visualstudio.com/_apis/profile/profiles/me",
			Params: url.Values{"details": {"true"}, "coreAttributes": {"Avatar"}, "api-version": {"6.0"}},
		},
		Scope: "vso.profile", ClientAuth: core.ClientAuthNone, // the secret is the assertion
		Profile: azureDevOpsPerson,
	}, options)
}

func azureDevOpsPerson(_ context.Context, p core.Profile, _ *core.TokenSet) (*core.Person, error) {
	person := &core.Person{AccountID: p.Text("id"), Name: p.Text("displayName"), Email: p.Text("emailAddress")}
	if avatar := p.Object("coreAttributes").Object("Avatar").Object("value"); avatar != nil {
		person.Image = "data:image/jpeg;base64," + avatar.Text("value")
	}
	return person, nil
}
