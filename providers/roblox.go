package providers

import "github.com/latchkey-go/latchkey/core"

// Roblox signs in with Roblox accounts.
//
// Register the application at https://create.roblox.com/credentials with the callback URL
// {origin}/auth/callback/roblox. Environment: AUTH_ROBLOX_ID, AUTH_ROBLOX_SECRET.
//
// The profile has no email address.
func Roblox(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "roblox", Name: "Roblox", Type: core.TypeOIDC,
		Issuer: "https://apis.roblox.com/oauth/",
		Scope:  "openid profile",
		Checks: []core.Check{core.CheckPKCE, core.CheckState},
		Style:  core.Style{Mark: markRoblox()},
	}, options)
}
