package providers

import "github.com/latchkey-go/latchkey/core"

// AzureADB2C signs in with Azure AD B2C accounts.
//
// Register the application at https://portal.azure.com with the callback URL {origin}/auth/callback/azure-ad-b2c.
// Environment: AUTH_AZURE_AD_B2C_ID, AUTH_AZURE_AD_B2C_SECRET, AUTH_AZURE_AD_B2C_ISSUER.
//
// The issuer is https://<tenant>.b2clogin.com/<tenant>.onmicrosoft.com/<policy>/v2.0.
//
// Deprecated: the service is not sold to new customers since May 2025. Its successor, Entra External ID, is used
// through [MicrosoftEntraID] or [OIDC].
func AzureADB2C(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "azure-ad-b2c", Name: "Azure AD B2C", Type: core.TypeOIDC,
		Profile: mapping{id: "sub", name: "name ?? preferred_username", email: "emails.0"}.person(),
		Style:   core.Style{Mark: markMicrosoft()},
	}, options)
}
