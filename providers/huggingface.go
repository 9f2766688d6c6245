package providers

import "github.com/latchkey-go/latchkey/core"

// HuggingFace signs in with Hugging Face accounts.
//
// Register the application at https://huggingface.co/settings/connected-applications with the callback URL
// {origin}/auth/callback/huggingface. Environment: AUTH_HUGGINGFACE_ID, AUTH_HUGGINGFACE_SECRET.
func HuggingFace(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "huggingface", Name: "Hugging Face", Type: core.TypeOIDC,
		Issuer: "https://huggingface.co",
		Checks: []core.Check{core.CheckState, core.CheckPKCE},
		Style:  core.Style{Mark: markHuggingface()},
	}, options)
}
