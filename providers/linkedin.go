package providers

import "github.com/latchkey-go/latchkey/core"

// LinkedIn signs in with LinkedIn accounts.
//
// Register the application at https://www.linkedin.com/developers/apps with the callback URL
// {origin}/auth/callback/linkedin. Environment: AUTH_LINKEDIN_ID, AUTH_LINKEDIN_SECRET.
func LinkedIn(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "linkedin", Name: "LinkedIn", Type: core.TypeOIDC,
		Issuer:     "https://www.linkedin.com/oauth",
		Checks:     []core.Check{core.CheckState},
		ClientAuth: core.ClientSecretPost,
	}, options)
}
