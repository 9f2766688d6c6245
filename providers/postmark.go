package providers

import (
	"context"
	"net/http"
	"net/mail"

	"github.com/latchkey-go/latchkey/core"
)

// Postmark sends sign-in links with https://postmarkapp.com, in its stream for transactional emails. Environment:
// AUTH_POSTMARK_KEY (the server's token), EMAIL_FROM.
func Postmark(options ...EmailOptions) *core.EmailProvider {
	return mailService{"postmark", "Postmark", func(
		ctx context.Context, key string, from *mail.Address, m core.Email, l EmailContent,
	) (*http.Request, error) {
		r, err := post(ctx, "https://api.postmarkapp.com/email", "", map[string]string{
			"From": line(from), "To": m.To, "Subject": l.Subject, "TextBody": l.Text, "HtmlBody": l.HTML,
			"MessageStream": "outbound",
		})
		if err != nil {
			return nil, err
		}
		r.Header.Set("Accept", "application/json")
		r.Header.Set("X-Postmark-Server-Token", key)
		return r, nil
	}}.provider(one(options))
}
