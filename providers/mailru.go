package providers

import "github.com/latchkey-go/latchkey/core"

// MailRu signs in with Mail.ru accounts.
//
// Register the application at https://o2.mail.ru/app/ with the callback URL {origin}/auth/callback/mailru. Environment:
// AUTH_MAILRU_ID, AUTH_MAILRU_SECRET.
func MailRu(options ...Options) *core.OAuthProvider {
	return with(&core.OAuthProvider{
		ID: "mailru", Name: "Mail.ru", Type: core.TypeOAuth,
		Authorization: core.Endpoint{URL: "https://oauth.mail.ru/login"},
		Token:         core.Endpoint{URL: "https://oauth.mail.ru/token"},
		Userinfo:      core.Endpoint{URL: "https://oauth.mail.ru/userinfo"},
		Scope:         "userinfo",
		Style:         core.Style{Mark: markMailru()},
	}, options)
}
