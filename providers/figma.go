package providers

import "github.com/latchkey-go/latchkey/core"

// Figma signs in with Figma accounts.
//
// Register the application at https://www.figma.com/developers/apps with the callback URL {origin}/auth/callback/figma.
// Environment: AUTH_FIGMA_ID, AUTH_FIGMA_SECRET.
func Figma(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "figma", Name: "Figma", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://www.figma.com/oauth"},
		Token:         core.Endpoint{URL: "https://api.figma.com/v1/oauth/token"},
		Userinfo:      core.Endpoint{URL: "https://api.figma.com/v1/me"},
		Scope:         "current_user:read",
		Checks:        []core.Check{core.CheckState},
		Profile:       mapping{id: "id", name: "handle", email: "email", image: "img_url"}.person(),
		Style:         core.Style{Mark: markFigma()},
	}, options)
}
