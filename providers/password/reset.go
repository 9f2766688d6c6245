package password

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// resets are what a link to choose a new password leads to: the form, the new password, and the end of all that the old
// one opened.
type resets struct {
	host      *core.Host
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

// form has the digest of its link, which is worth nothing without the cookie, and the sign-in methods that were added
// lately, so that the owner can remove those of an attacker.
func (s *resets) form(ctx context.Context, c *core.Call) form {
	var link linkCookie
	c.Kept(resetCookie, &link)
	return form{textReset, func(page ui.Page, v filled) templ.Component {
		return resetPage(page, c.URL(ID+"/reset"), v)
	}, filled{link: link.Digest, ends: s.host.CanEndSessions(), methods: s.recent(ctx, link.Digest)}}
}

// recent lists the sign-in methods that were added in the last month to the user of a link. The form works without the
// list, so a failure is logged.
func (s *resets) recent(ctx context.Context, digest string) (recent []core.SignInMethod) {
	if digest == "" {
		return nil
	}
	o, err := s.links.open(ctx, digest)
	if err == nil && o != nil {
		recent, err = s.host.SignInMethods(ctx, o.user.ID)
	}
	if err != nil {
		s.log.WarnContext(ctx, "password: the reset page does not list the sign-in methods", "error", err)
	}
	return slices.DeleteFunc(recent, func(m core.SignInMethod) bool { return m.Added.IsZero() })
}

// removeField is the name of the field that asks to remove a sign-in method.
func removeField(m core.SignInMethod) string { return "remove-" + m.ID }

// remove removes the sign-in methods that the user selected: fields of the form, or the IDs in the member "remove" of a
// JSON body.
func (s *resets) remove(ctx context.Context, c *core.Call, userID string) ([]core.SignInMethod, error) {
	var ids []string
	c.Member("remove", &ids)
	removed, err := s.host.RemoveSignInMethods(ctx, userID, func(m core.SignInMethod) bool {
		return c.Field(removeField(m)) != "" || slices.Contains(ids, m.ID)
	})
	for _, m := range removed {
		letter, audit := core.LetterAccountUnlinked, core.AuditAccountUnlinked
		if m.Passkey {
			letter, audit = core.LetterPasskeyRemoved, core.AuditPasskeyRemoved
		}
		c.NotifyMethod(ctx, letter, userID, m.Provider)
		c.Audit(ctx, core.AuditEvent{
			Name: audit, Outcome: core.OutcomeOK, Reason: core.ReasonAsked, UserID: userID, Provider: m.Provider,
		})
	}
	return removed, err
}

// start starts a reset without an email, for a user whose mailbox the request has shown access to.
func (s *resets) start(ctx context.Context, c *core.Call, userID string) (string, error) {
	user, err := userByID(ctx, s.links.users, userID)
	switch {
	case err != nil:
		return "", err
	case user == nil:
		return "", core.ErrNotFound
	}
	token, err := s.links.newToken()
	if err != nil {
		return "", err
	}
	link := &resetEmail{resetLinks: s.links, token: token}
	if _, err := link.write(ctx, user); err != nil {
		return "", err
	}
	return c.URL(ID + "/reset"), c.Keep(resetCookie, linkCookie{s.links.digest(token)}, s.links.life)
}

// show answers GET password/reset. With a token it puts that into a cookie and leads on to the same address without,
// so that the token is not in the history, and in no Referer. It asks the store nothing: scanners of mails open links
// too.
func (s *resets) show(ctx context.Context, c *core.Call) (*core.Response, error) {
	token := c.Field("token")
	if token == "" {
		return s.pages.show(ctx, c, http.StatusOK, s.form(ctx, c))
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
	hash, err := s.chosen.take(withPriority(ctx, c), c, c.Field("newPassword"), o.user.Email)
	if err != nil {
		return s.pages.again(ctx, c, s.form(ctx, c), err)
	}
	// Whoever has the link reads the mailbox. What strangers attached goes first: when that fails nothing has changed.
	err = c.ProveEmail(ctx, o.user.ID, o.user.Email)
	removed := c.Unlinked()
	if err == nil {
		var selected []core.SignInMethod
		selected, err = s.remove(ctx, c, o.user.ID)
		removed = append(removed, selected...)
	}
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
	return s.answer(ctx, c, removed)
}

// answer reports the reset, and the sign-in methods that it removed.
func (s *resets) answer(ctx context.Context, c *core.Call, removed []core.SignInMethod) (*core.Response, error) {
	if len(removed) == 0 {
		return next(ctx, c, http.StatusOK, "signin", ID+"/done")
	}
	names := make([]string, len(removed))
	for i, m := range removed {
		names[i] = methodName(c.Locale, m)
	}
	if c.WantsJSON {
		return c.Answer(ctx, http.StatusOK, struct {
			Next    string   `json:"next"`
			Removed []string `json:"removed"`
		}{"signin", names}), nil
	}
	if err := c.Keep(removedCookie, names, time.Minute); err != nil {
		s.log.WarnContext(ctx, "password: the page after a reset does not list what was removed", "error", err)
	}
	return c.Redirect(c.URL(ID + "/done")), nil
}

// removedCookie lists what a reset removed, for the next page.
const removedCookie = "password-removed"

func methodName(l ui.Locale, m core.SignInMethod) string {
	if m.Passkey {
		return l.Say(textPasskey)
	}
	return m.Name
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
	if err := s.stillTheirs(ctx, o); err != nil {
		return err
	}
	if err := s.endings.sessions(ctx, o.user.ID); err != nil {
		s.log.ErrorContext(ctx, "password: sessions may have outlived a reset", "user", o.user.ID, "error", err)
	}
	return nil
}

// stillTheirs removes the password again if the address of the link is no longer the user's. Its owner may have undone
// a change of the address while the hash was computed. core.ErrConflict: it was removed.
func (s *resets) stillTheirs(ctx context.Context, o *opened) error {
	user, err := userByID(ctx, s.links.users, o.user.ID)
	if err != nil || user != nil && user.Email == o.user.Email {
		return err
	}
	_, err = s.passwords.records.DeleteRecord(ctx, kindPassword, o.user.ID)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return err
	}
	return core.ErrConflict
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
