package providers

import "github.com/latchkey-go/latchkey/core"

// PingID signs in with Ping Identity accounts.
//
// Register the application at https://console.pingone.com with the callback URL {origin}/auth/callback/ping-id.
// Environment: AUTH_PING_ID_ID, AUTH_PING_ID_SECRET, AUTH_PING_ID_ISSUER.
//
// The issuer is https://auth.pingone.<region>/<environment>/as.
func PingID(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "ping-id", Name: "Ping Identity", Type: core.TypeOIDC,
	}, options)
}
