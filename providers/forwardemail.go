package providers

import (
	"context"
	"net/http"
	"net/mail"

	"github.com/latchkey-go/latchkey/core"
)

// ForwardEmail sends sign-in links with https://forwardemail.net. Environment: AUTH_FORWARDEMAIL_KEY, EMAIL_FROM.
func ForwardEmail(options ...EmailOptions) *core.EmailProvider {
	return mailService{"forwardemail", "Forward Email", func(
		ctx context.Context, key string, from *mail.Address, m core.Email, l EmailContent,
	) (*http.Request, error) {
		r, err := post(ctx, "https://api.forwardemail.net/v1/emails", "", map[string]string{
			"from": line(from), "to": m.To, "subject": l.Subject, "html": l.HTML, "text": l.Text,
		})
		if err != nil {
			return nil, err
		}
		r.SetBasicAuth(key, "")
		return r, nil
	}}.provider(one(options))
}
