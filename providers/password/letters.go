package password

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// letters sends the emails of this site in the background.
type letters struct {
	mail  core.Mailer
	theme core.Theme
	now   func() time.Time
	sent  *sentLinks
}

// write returns an email. The caller adds the link.
func (l *letters) write(c *core.ActionRequest, kind core.EmailKind, to string) core.Email {
	return core.Email{To: to, Kind: kind, Host: c.Host(), Theme: l.theme, Locale: c.Locale, Request: c.Request}
}

// send sends an email and waits for the result.
func (l *letters) send(ctx context.Context, letter core.Email) error {
	return letter.Send(ctx, l.mail)
}

// later sends an email after the response. It returns errBusy if the queue is full, whether or not the address belongs
// to a user.
func (l *letters) later(ctx context.Context, c *core.ActionRequest, e core.BackgroundEmail) error {
	e.Mailer = l.mail
	err := c.SendLater(ctx, e)
	if errors.Is(err, core.ErrMailQueueFull) {
		return errBusy
	}
	return err
}

// notifyChanged emails a user that their password changed.
func (l *letters) notifyChanged(ctx context.Context, c *core.ActionRequest, user *core.User) {
	if user.Email == "" {
		return
	}
	if address, ok := isMail(user.Email); ok {
		l.sent.forget(address)
	}
	letter := l.write(c, core.EmailPasswordChanged, user.Email)
	letter.URL, letter.At = core.Secret(c.URL(ID+"/forgot")), l.now()
	c.Notify(ctx, core.BackgroundEmail{Email: letter, Mailer: l.mail, UserID: user.ID})
}
