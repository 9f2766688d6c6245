package providers

import "github.com/latchkey-go/latchkey/core"

// Mailchimp signs in with Mailchimp accounts.
//
// Register the application at https://admin.mailchimp.com/account/oauth2/client/ with the callback URL
// {origin}/auth/callback/mailchimp. Environment: AUTH_MAILCHIMP_ID, AUTH_MAILCHIMP_SECRET.
//
// The service rejects the scope parameter, so none is sent.
func Mailchimp(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "mailchimp", Name: "Mailchimp", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://login.mailchimp.com/oauth2/authorize"},
		Token:         core.Endpoint{URL: "https://login.mailchimp.com/oauth2/token"},
		Userinfo:      core.Endpoint{URL: "https://login.mailchimp.com/oauth2/metadata"},
		Scope:         core.NoScope,
		Profile:       mapping{id: "login.login_id", name: "accountname", email: "login.email"}.person(),
		Style:         core.Style{Mark: markMailchimp()},
	}, options)
}
