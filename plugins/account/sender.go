package account

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// sender sends emails with Options.Mail.
type sender struct {
	host *core.PluginHost // for the theme and the language of the site
	mail core.Mailer
}

// senderName is the name of the sender of background emails.
const senderName = "account"

// notify runs change and then sends a security notice to a user. It sends none if email has no recipient or change
// fails.
func (l *sender) notify(
	ctx context.Context, c *core.ActionRequest, userID string, email core.Email, change func(ctx context.Context) error,
) error {
	if l.mail == nil || email.To == "" {
		return change(ctx)
	}
	email.Theme, email.Host, email.Request, email.Locale = l.host.Theme, c.Host(), c.Request, c.Locale
	return c.NotifyAround(ctx, core.BackgroundEmail{Sender: senderName, Email: email, UserID: userID}, change)
}

// sendTimeout is the timeout for sending an email.
const sendTimeout = 20 * time.Second

// send sends an email. c is nil if no request is involved. The error asks the user to try again.
func (l *sender) send(ctx context.Context, c *core.ActionRequest, email core.Email) error {
	email.Theme, email.Locale = l.host.Theme, l.host.Locale
	if c != nil {
		email.Host, email.Request, email.Locale = c.Host(), c.Request, c.Locale
	}
	ctx, end := context.WithTimeout(ctx, sendTimeout)
	defer end()
	if err := email.Send(ctx, l.mail); err != nil {
		return &core.Problem{
			Status: http.StatusServiceUnavailable, Code: codeMail, Text: problemText(codeMail),
			Cause: fmt.Errorf("account: send the %s email: %w", email.Kind, err),
		}
	}
	return nil
}
