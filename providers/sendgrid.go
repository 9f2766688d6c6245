package providers

import (
	"context"
	"net/http"
	"net/mail"

	"github.com/latchkey-go/latchkey/core"
)

// SendGrid sends sign-in links with https://sendgrid.com. Environment: AUTH_SENDGRID_KEY, EMAIL_FROM.
func SendGrid(options ...EmailOptions) *core.EmailProvider {
	return mailService{"sendgrid", "SendGrid", func(
		ctx context.Context, key string, from *mail.Address, m core.Email, l EmailContent,
	) (*http.Request, error) {
		sender := map[string]string{"email": from.Address}
		if from.Name != "" { // a separate member: the service rejects a name within the address
			sender["name"] = from.Name
		}
		return post(ctx, "https://api.sendgrid.com/v3/mail/send", "Bearer "+key, map[string]any{
			"personalizations": []any{map[string]any{"to": []any{map[string]string{"email": m.To}}}},
			"from":             sender,
			"subject":          l.Subject,
			"content": []any{
				map[string]string{"type": "text/plain", "value": l.Text},
				map[string]string{"type": "text/html", "value": l.HTML},
			},
		})
	}}.provider(one(options))
}
