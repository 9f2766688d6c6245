package password

import (
	"context"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// letters are written for requests, and sent after their answers.
type letters struct {
	mail  core.Mailer
	post  *outbox
	theme core.Theme
	now   func() time.Time
	log   *slog.Logger
}

// write is a letter of this site, for a request.
func (l *letters) write(c *core.Call, kind core.LetterKind, to string) core.Letter {
	return core.Letter{To: to, Kind: kind, Host: c.Host(), Theme: l.theme, Locale: c.Locale, Request: c.Request}
}

// send delivers a letter.
func (l *letters) send(ctx context.Context, letter core.Letter) error {
	return letter.Deliver(ctx, l.mail)
}

// later has the outbox do what depends on whether somebody is known.
func (l *letters) later(ctx context.Context, do func(ctx context.Context) error) error {
	return l.post.add(ctx, l.log, do)
}

// tellChanged has the owner of an address told that their password is another one.
func (l *letters) tellChanged(ctx context.Context, c *core.Call, user *core.User) {
	if user.Email == "" {
		return
	}
	letter := l.write(c, core.LetterPasswordChanged, user.Email)
	letter.URL, letter.At = core.Secret(c.URL(ID+"/forgot")), l.now()
	if err := l.later(ctx, func(ctx context.Context) error { return l.send(ctx, letter) }); err != nil {
		l.log.ErrorContext(ctx, "password: nobody was told of a changed password", "user", user.ID, "error", err)
	}
}
