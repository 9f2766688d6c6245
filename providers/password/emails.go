package password

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// emails sends the emails of this site in the background.
type emails struct {
	mail  core.Mailer
	theme core.Theme
	now   func() time.Time
	sent  *sentLinks
}

// The names of the senders of background emails.
const (
	senderReset  = "password reset"
	senderSignUp = "password sign-up"
	senderNotice = "password"
)

// write returns an email. The caller adds the link.
func (l *emails) write(c *core.ActionRequest, kind mailkind.Kind, to string) core.Email {
	return core.Email{To: to, Kind: kind, Host: c.Host(), Theme: l.theme, Locale: c.Locale, Request: c.Request}
}

// send sends an email and waits for the result.
func (l *emails) send(ctx context.Context, email core.Email) error {
	return email.Send(ctx, l.mail)
}

// later sends an email after the response. It returns errBusy if the queue is full, whether or not the address belongs
// to a user.
func (l *emails) later(ctx context.Context, c *core.ActionRequest, e core.BackgroundEmail) error {
	err := c.SendLater(ctx, e)
	if errors.Is(err, core.ErrMailQueueFull) {
		return errBusy
	}
	return err
}

// change runs change, which changes the password of a user, and emails the user about it. If change fails, it sends no
// email.
func (l *emails) change(
	ctx context.Context, c *core.ActionRequest, user *core.User, change func(ctx context.Context) error,
) error {
	if user.Email == "" {
		return change(ctx)
	}
	email := l.write(c, mailkind.PasswordChanged, user.Email)
	email.URL, email.At = core.Secret(c.URL(ID+"/forgot")), l.now()
	if !user.EmailVerified.IsZero() {
		email = c.AddClient(email)
		n := core.SecurityNotice{Kind: mailkind.PasswordChanged, UserID: user.ID, At: email.At}
		url, expires, err := c.NoticeLink(ctx, n)
		if err != nil {
			return err
		}
		if url != "" {
			email.URL, email.Expires = url, expires
		}
	}
	err := c.NotifyAround(ctx, core.BackgroundEmail{Sender: senderNotice, Email: email, UserID: user.ID}, change)
	if address, ok := isMail(user.Email); ok && err == nil {
		l.sent.forget(address)
	}
	return err
}
