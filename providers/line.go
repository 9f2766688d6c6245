package providers

import "github.com/latchkey-go/latchkey/core"

// LINE signs in with LINE accounts.
//
// Register the application at https://developers.line.biz/console/ with the callback URL {origin}/auth/callback/line.
// Environment: AUTH_LINE_ID, AUTH_LINE_SECRET.
//
// ID tokens are signed with the client secret (HS256).
func LINE(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "line", Name: "LINE", Type: core.TypeOIDC,
		Issuer:      "https://access.line.me",
		Checks:      []core.Check{core.CheckState},
		IDTokenAlgs: []string{"HS256"},
		Style:       core.Style{Mark: markLine()},
	}, options)
}
