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

// notify sends a security notice to a user after the response.
func (l *sender) notify(ctx context.Context, c *core.ActionRequest, userID string, letter core.Email) {
	letter.Theme, letter.Host, letter.Request, letter.Locale = l.host.Theme, c.Host(), c.Request, c.Locale
	c.Notify(ctx, core.BackgroundEmail{Email: letter, Mailer: l.mail, UserID: userID})
}

// sendTimeout is the timeout for sending an email.
const sendTimeout = 20 * time.Second

// send sends an email. c is nil if no request is involved. The error asks the user to try again.
func (l *sender) send(ctx context.Context, c *core.ActionRequest, letter core.Email) error {
	letter.Theme, letter.Locale = l.host.Theme, l.host.Locale
	if c != nil {
		letter.Host, letter.Request, letter.Locale = c.Host(), c.Request, c.Locale
	}
	ctx, end := context.WithTimeout(ctx, sendTimeout)
	defer end()
	if err := letter.Send(ctx, l.mail); err != nil {
		return &core.Problem{
			Status: http.StatusServiceUnavailable, Code: codeMail, Text: problemText(codeMail),
			Cause: fmt.Errorf("account: send the %s email: %w", letter.Kind, err),
		}
	}
	return nil
}
