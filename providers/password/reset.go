package password

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// resets are what a link to choose a new password leads to: the form, the new password, and the end of all that the old
// one opened.
type resets struct {
	provider  string
	pages     *pages
	links     *resetLinks
	chosen    *newPasswords
	passwords *passwords
	endings   *endings
	letters   *letters
	log       *slog.Logger
}

// linkCookie is the cookie that a link leaves: the digest of its token, so that the token stays in no address bar.
type linkCookie struct {
	Digest string `json:"d"`
}

const resetCookie = "password-reset"

// resetForm holds the digest of the link that it is for, which is worth nothing without the cookie.
func resetForm(c *core.Call) form {
	var link linkCookie
	c.Kept(resetCookie, &link)
	return form{textReset, func(page ui.Page, v filled) templ.Component {
		return resetPage(page, c.URL(ID+"/reset"), v)
	}, filled{link: link.Digest}}
}

// show answers GET password/reset. With a token it puts that into a cookie and leads on to the same address without,
// so that the token is not in the history, and in no Referer. It asks the store nothing: scanners of mails open links
// too.
func (s *resets) show(ctx context.Context, c *core.Call) (*core.Response, error) {
	token := c.Field("token")
	if token == "" {
		return s.pages.show(ctx, c, http.StatusOK, resetForm(c))
	}
	if len(token) > longestToken {
		return nil, errLink
	}
	if err := c.Keep(resetCookie, linkCookie{s.links.digest(token)}, s.links.life); err != nil {
		return nil, err
	}
	return c.Redirect(c.URL(ID + "/reset")), nil
}

// reset answers POST password/reset (newPassword, and link of the form that was shown). It signs nobody in, so it
// passes no gate by; it ends all sessions. A link that another tab has opened since, which may be a stranger's, has
// taken the cookie over: the form of the first tab changes nothing then. Programs, which open one link, send none.
func (s *resets) reset(ctx context.Context, c *core.Call) (*core.Response, error) {
	var link linkCookie
	if !c.Kept(resetCookie, &link) {
		return nil, errLink
	}
	form := c.Field("link")
	if form != "" && subtle.ConstantTimeCompare([]byte(form), []byte(link.Digest)) == 0 {
		return nil, errOtherLink
	}
	o, err := s.links.open(ctx, link.Digest)
	switch {
	case err != nil:
		return nil, err
	case o == nil:
		c.Drop(resetCookie)
		return nil, errLink
	}
	hash, err := s.chosen.take(withPriority(ctx), c, c.Field("newPassword"), o.user.Email)
	if err != nil {
		return s.pages.again(ctx, c, resetForm(c), err)
	}
	// Whoever has the link reads the mailbox. What strangers attached goes first: when that fails nothing has changed.
	err = c.ProveEmail(ctx, o.user.ID, o.user.Email)
	if err == nil {
		err = s.replace(ctx, o, hash)
	}
	switch {
	case errors.Is(err, core.ErrNotFound), errors.Is(err, core.ErrConflict):
		c.Drop(resetCookie)
		return nil, errLink
	case err != nil:
		return nil, err
	}
	c.Drop(resetCookie)
	s.after(ctx, c, o.user)
	return next(ctx, c, http.StatusOK, "signin", ID+"/done")
}

// replace uses a link up and sets the password: of any number that come with one link, one succeeds. Sessions are ended
// before, so that a store that fails there leaves the password and the link as they are, and once more afterwards, for
// one that began in between.
func (s *resets) replace(ctx context.Context, o *opened, hash hashed) error {
	if err := s.endings.sessions(ctx, o.user.ID); err != nil {
		return err
	}
	if err := s.links.use(ctx, o.record); err != nil {
		return err
	}
	if err := s.passwords.set(ctx, o.user.ID, hash, false, o.old); err != nil {
		if !errors.Is(err, core.ErrConflict) {
			s.links.restore(ctx, o.record)
		}
		return err
	}
	if err := s.endings.sessions(ctx, o.user.ID); err != nil {
		s.log.ErrorContext(ctx, "password: sessions may have outlived a reset", "user", o.user.ID, "error", err)
	}
	return nil
}

// after ends what an old password may have left behind: links and remembered devices. None of it undoes the reset when
// it fails.
func (s *resets) after(ctx context.Context, c *core.Call, user *core.User) {
	c.KnowBrowser(ctx, user)
	s.endings.links(ctx, user.ID)
	c.Audit(ctx, core.AuditEvent{
		Name: core.AuditPasswordSet, Outcome: core.OutcomeOK, UserID: user.ID, Provider: s.provider,
	})
	forgive(ctx, c, user)
	s.letters.notifyChanged(ctx, c, user)
}

// forgive forgets the wrong passwords that were typed for somebody, at the sign-in page and for a change.
func forgive(ctx context.Context, c *core.Call, user *core.User) {
	c.Forgive(ctx, core.AttemptInARow, user.ID)
	if address, ok := isMail(user.Email); ok {
		c.Forgive(ctx, core.AttemptInARow, address)
	}
}
