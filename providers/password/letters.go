package password

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// letters writes and sends this site's emails in the background.
type letters struct {
	mail  core.Mailer
	theme core.Theme
	now   func() time.Time
	sent  *sentLinks
}

// write returns an email for a request. Its link is added by the caller.
func (l *letters) write(c *core.Call, kind core.LetterKind, to string) core.Letter {
	return core.Letter{To: to, Kind: kind, Host: c.Host(), Theme: l.theme, Locale: c.Locale, Request: c.Request}
}

// send delivers an email now.
func (l *letters) send(ctx context.Context, letter core.Letter) error {
	return letter.Deliver(ctx, l.mail)
}

// later sends an email after the response. It returns errBusy if too many emails wait already, whether the address
// belongs to a user or not.
func (l *letters) later(ctx context.Context, c *core.Call, e core.BackgroundEmail) error {
	e.Mailer = l.mail
	err := c.SendLater(ctx, e)
	if errors.Is(err, core.ErrMailQueueFull) {
		return errBusy
	}
	return err
}

// notifyChanged tells a user that their password changed.
func (l *letters) notifyChanged(ctx context.Context, c *core.Call, user *core.User) {
	if user.Email == "" {
		return
	}
	if address, ok := isMail(user.Email); ok {
		l.sent.forget(address)
	}
	letter := l.write(c, core.LetterPasswordChanged, user.Email)
	letter.URL, letter.At = core.Secret(c.URL(ID+"/forgot")), l.now()
	c.Notify(ctx, core.BackgroundEmail{Letter: letter, Mailer: l.mail, UserID: user.ID})
}
