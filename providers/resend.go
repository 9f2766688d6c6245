package providers

import (
	"context"
	"net/http"
	"net/mail"

	"github.com/latchkey-go/latchkey/core"
)

// Resend sends sign-in links with https://resend.com. Environment: AUTH_RESEND_KEY, EMAIL_FROM.
func Resend(options ...EmailOptions) *core.EmailProvider {
	return mailService{"resend", "Resend", func(
		ctx context.Context, key string, from *mail.Address, m core.Email, l EmailContent,
	) (*http.Request, error) {
		return post(ctx, "https://api.resend.com/emails", "Bearer "+key, map[string]string{
			"from": line(from), "to": m.To, "subject": l.Subject, "html": l.HTML, "text": l.Text,
		})
	}}.provider(one(options))
}
