package providers

import "github.com/latchkey-go/latchkey/core"

// Slack signs in with Slack accounts.
//
// Register the application at https://api.slack.com/apps with the callback URL {origin}/auth/callback/slack.
// Environment: AUTH_SLACK_ID, AUTH_SLACK_SECRET.
func Slack(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "slack", Name: "Slack", Type: core.TypeOIDC,
		Issuer: "https://slack.com",
		Checks: []core.Check{core.CheckNonce, core.CheckState},
		Style:  core.Style{Mark: markSlack()},
	}, options)
}
