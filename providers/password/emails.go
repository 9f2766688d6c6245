package password

import (
	"context"
	"errors"
	"sync"
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

// sentLinks contains the addresses that requested a link within repeatAfter, whether or not they belong to a user. If
// the rate limit of such an address is reached, another request gets the same response and sends nothing. Otherwise an
// attacker could use up the limit and keep the owner from a link. sentLinks is in memory; beyond maxSentLinks the
// oldest are dropped.
type sentLinks struct {
	now func() time.Time

	mu    sync.Mutex
	at    map[string]time.Time
	order []string
}

const maxSentLinks = 4096

func (l *sentLinks) note(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.at[address]; !known {
		if l.order = append(l.order, address); len(l.order) > maxSentLinks {
			delete(l.at, l.order[0])
			l.order = l.order[1:]
		}
	}
	if l.at == nil {
		l.at = map[string]time.Time{}
	}
	l.at[address] = l.now()
}

func (l *sentLinks) recent(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, known := l.at[address]
	return known && l.now().Sub(at) < repeatAfter && !l.now().Before(at)
}

// forget removes an address when its link was not sent or has been used.
func (l *sentLinks) forget(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.at[address]; known {
		l.at[address] = time.Time{}
	}
}

// repeatAfter is the minimum time between two emails with a link. An earlier request sends nothing, because the first
// link still works and an attacker must not be able to flood the mailbox.
const repeatAfter = 5 * time.Minute
