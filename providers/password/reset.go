package password

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/a-h/templ"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/ui"
)

// resets handles a reset link: the form, the new password, and the end of the sessions and links of the old one.
type resets struct {
	host      *core.PluginHost
	provider  string
	pages     *pages
	links     *resetLinks
	chosen    *newPasswords
	passwords *passwords
	revoker   *revoker
	emails    *emails
	names     *usernames     // nil without Options.Usernames
	codes     *recoveryCodes // nil without Usernames.Alone
	code      bool           // Options.Code
	log       *slog.Logger
}

func (s *resets) actions() []core.Action {
	all := []core.Action{
		{Method: http.MethodGet, Verb: "reset", Handle: s.show},
		{Method: http.MethodPost, Verb: "reset", Handle: s.reset},
		{Method: http.MethodGet, Verb: "done", Handle: s.showDone},
	}
	if s.code {
		all = append(all, core.Action{Method: http.MethodPost, Verb: "reset-code", Handle: s.checkCode})
	}
	return all
}

// linkCookie is the cookie that opening a link sets. It contains the digest of the token, so that the token does not
// stay in the address bar.
type linkCookie struct {
	Digest string `json:"d"`
}

const resetCookie = "password-reset"

// form returns the reset form. It contains the digest of the link, which is useless without the cookie, and the
// recently added sign-in methods, so that the owner can remove those of an attacker.
func (s *resets) form(ctx context.Context, c *core.ActionRequest) form {
	var link linkCookie
	c.EncryptedCookie(resetCookie, &link)
	return form{textReset, func(page ui.Page, v filled) templ.Component {
		return resetPage(page, c.URL(ID+"/reset"), v)
	}, filled{link: link.Digest, ends: s.host.CanEndSessions(), methods: s.recent(ctx, c.Locale, link.Digest)}}
}

// recent lists the sign-in methods that the user added in the last month. The form works without the list, so a failure
// is only logged.
func (s *resets) recent(ctx context.Context, l ui.Locale, digest string) (recent []core.SignInMethod) {
	if digest == "" {
		return nil
	}
	o, err := s.links.open(ctx, digest)
	if err == nil && o != nil {
		recent, err = s.signInMethods(ctx, l, o.user.ID)
	}
	if err != nil {
		s.log.WarnContext(ctx, "password: could not list the sign-in methods on the reset page", "error", err)
	}
	return slices.DeleteFunc(recent, func(m core.SignInMethod) bool { return m.Added.IsZero() })
}

const (
	// recoveryMethod is the ID of the recovery codes among the sign-in methods on the reset page. Other IDs are hashes.
	recoveryMethod = "recovery-codes"
	// recentlyAdded is the age below which the page lists a method.
	recentlyAdded = 31 * 24 * time.Hour
)

// signInMethods lists the sign-in methods of a user. The recovery codes are one of them, because an attacker may have
// created them.
func (s *resets) signInMethods(ctx context.Context, l ui.Locale, userID string) ([]core.SignInMethod, error) {
	all, err := s.host.SignInMethods(ctx, userID)
	if err != nil || s.codes == nil {
		return all, err
	}
	set, _, err := s.codes.load(ctx, userID)
	if err != nil || set == nil {
		return all, err
	}
	m := core.SignInMethod{ID: recoveryMethod, Name: l.Say(textRecovery)}
	if s.host.Now().Sub(set.Made) < recentlyAdded {
		m.Added = set.Made
	}
	return append(all, m), nil
}

// removeField returns the name of the checkbox that removes a sign-in method.
func removeField(m core.SignInMethod) string { return "remove-" + m.ID }

// remove removes the sign-in methods that the user selected: by fields of the form, or by the IDs in the member
// "remove" of a JSON body. The email about each is stored before the method is removed.
func (s *resets) remove(
	ctx context.Context, c *core.ActionRequest, userID string,
) (removed []core.SignInMethod, err error) {
	var ids []string
	c.JSONMember("remove", &ids)
	all, err := s.signInMethods(ctx, c.Locale, userID)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if c.Field(removeField(m)) == "" && !slices.Contains(ids, m.ID) {
			continue
		}
		if m.ID == recoveryMethod {
			if err := s.codes.removeAudited(ctx, c, userID); err != nil {
				return removed, err
			}
			removed = append(removed, m)
			continue
		}
		n := core.SecurityNotice{
			Kind: mailkind.AccountUnlinked, UserID: userID, Provider: m.Provider, Method: m.ID,
			Audit: audit.Event{Name: audit.AccountUnlinked, Reason: audit.ReasonAsked},
		}
		if m.Passkey {
			n.Kind, n.Audit.Name = mailkind.PasskeyRemoved, audit.PasskeyRemoved
		}
		gone := false
		err := c.NotifyChange(ctx, n, func(ctx context.Context) error {
			done, err := s.host.RemoveSignInMethods(ctx, userID, func(each core.SignInMethod) bool { return each.ID == m.ID })
			if gone = err == nil && len(done) == 0; gone { // another request has removed it
				return core.ErrNotFound
			}
			return err
		})
		switch {
		case gone:
		case err != nil:
			return removed, err
		default:
			removed = append(removed, m)
		}
	}
	return removed, nil
}

// start starts a reset without an email. The caller has verified that the sender of this request can read the user's
// mailbox, for example by the link that undoes an email change. It returns the URL of the reset page.
func (s *resets) start(ctx context.Context, c *core.ActionRequest, userID string) (string, error) {
	user, err := userByID(ctx, s.links.users, userID)
	switch {
	case err != nil:
		return "", err
	case user == nil:
		return "", core.ErrNotFound
	}
	token, err := s.links.host.NewToken()
	if err != nil {
		return "", err
	}
	record, err := s.links.create(ctx, user, token, false)
	if err != nil {
		return "", err
	}
	return c.URL(ID + "/reset"), c.SetEncryptedCookie(resetCookie, linkCookie{record.Key}, s.links.ttl)
}

// noticeTTL is the lifetime of the link in an email that the user did not request, and may read later.
const noticeTTL = 24 * time.Hour

// link returns the action of a reset link for an email about guessed codes. It returns core.ErrNotFound if the user has
// no password.
func (s *resets) link(ctx context.Context, userID string) (action string, expires time.Time, err error) {
	user, err := userByID(ctx, s.links.users, userID)
	if err != nil {
		return "", time.Time{}, err
	}
	old, err := s.passwords.load(ctx, userID)
	if err == nil && (user == nil || old == nil) {
		err = core.ErrNotFound
	}
	if err != nil {
		return "", time.Time{}, err
	}
	links := *s.links
	links.ttl = max(links.ttl, noticeTTL)
	token, err := links.host.NewToken()
	if err != nil {
		return "", time.Time{}, err
	}
	record, err := links.create(ctx, user, token, false)
	if err != nil {
		return "", time.Time{}, err
	}
	return ID + "/reset?token=" + url.QueryEscape(token), record.Expires, nil
}

// show handles GET password/reset. It stores the token in a cookie and redirects to the same URL without the token, so
// that the token is not in the history or a Referer header. It does not read the store, because mail scanners open
// links too.
func (s *resets) show(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	token := c.Field("token")
	if token == "" {
		return s.pages.show(ctx, c, http.StatusOK, s.form(ctx, c))
	}
	if len(token) > maxTokenLength {
		return nil, errLink
	}
	return s.open(c, s.links.digest(token))
}

// open makes this browser the one that can use a link, and redirects to the form.
func (s *resets) open(c *core.ActionRequest, digest string) (*core.Response, error) {
	if err := c.SetEncryptedCookie(resetCookie, linkCookie{digest}, s.links.ttl); err != nil {
		return nil, err
	}
	return c.Redirect(c.URL(ID + "/reset")), nil
}

// checkCode handles POST password/reset-code (code). It opens the reset page of this browser, as the link does. The
// refusal is the same for an address without an account, whose code was not sent.
func (s *resets) checkCode(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	found, err := c.CheckCode(ctx, codeReset, c.Field("code"))
	if err != nil {
		return refuseCode(ctx, c, err, audit.PasswordSet, ID+"/sent", "for", forReset)
	}
	return s.open(c, found.Data)
}

// reset handles POST password/reset (newPassword, and link from the form). It does not sign the user in, so that it
// does not bypass a sign-in gate, unless a sign-in with a breached password is pending in this browser. It ends all
// sessions. If another tab has opened a different link since, possibly an attacker's, the cookie belongs to that link;
// the form of the first tab then changes nothing. Programs open one link and send no link field.
func (s *resets) reset(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	var link linkCookie
	if !c.EncryptedCookie(resetCookie, &link) {
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
		c.DeleteEncryptedCookie(resetCookie)
		return nil, errLink
	}
	held, err := c.PendingSignIn(ctx)
	if err != nil {
		return nil, err
	}
	hash, err := s.chosen.take(withPriority(ctx, c), c, c.Field("newPassword"), o.user.Email)
	if err != nil {
		return s.pages.showAgain(ctx, c, s.form(ctx, c), err)
	}
	// The link verifies the address. This removes what an attacker attached to the unverified account. It comes first, so
	// that a failure changes nothing.
	if o.user.Email != "" { // otherwise the link is that of ResetLink
		err = c.MarkEmailVerified(ctx, o.user.ID, o.user.Email)
	}
	removed := c.RemovedMethods()
	if err == nil {
		var selected []core.SignInMethod
		selected, err = s.remove(ctx, c, o.user.ID)
		removed = append(removed, selected...)
	}
	if err == nil {
		err = s.replace(ctx, c, o, hash)
	}
	switch {
	case errors.Is(err, core.ErrNotFound), errors.Is(err, core.ErrConflict):
		c.DeleteEncryptedCookie(resetCookie)
		return nil, errLink
	case err != nil:
		return nil, err
	}
	c.DeleteEncryptedCookie(resetCookie)
	s.after(ctx, c, o.user)
	if held != nil && held.User.ID == o.user.ID && len(removed) == 0 {
		return s.signIn(ctx, c, held)
	}
	return s.answer(ctx, c, removed)
}

// signIn signs the user in after they have replaced a breached password. They have typed the old one in this browser
// and opened the link or entered the code of the email. The other sign-in gates run. The pending sign-in itself has
// ended with the user's sessions.
func (s *resets) signIn(ctx context.Context, c *core.ActionRequest, held *core.PendingSignIn) (*core.Response, error) {
	user, err := userByID(ctx, s.links.users, held.User.ID)
	if err == nil && user == nil {
		err = errLink
	}
	if err != nil {
		return nil, err
	}
	return c.SignIn(ctx, core.SignIn{
		User: user, Account: held.Account, Methods: []amr.Method{amr.Password}, CallbackURL: held.CallbackURL,
	})
}

// answer returns the response that lists the removed sign-in methods.
func (s *resets) answer(
	ctx context.Context,
	c *core.ActionRequest,
	removed []core.SignInMethod,
) (*core.Response, error) {
	if len(removed) == 0 {
		return next(ctx, c, http.StatusOK, "signin", ID+"/done")
	}
	names := make([]string, len(removed))
	for i, m := range removed {
		names[i] = methodName(c.Locale, m)
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, nextStep{Next: "signin", Removed: names}), nil
	}
	if err := c.SetEncryptedCookie(removedCookie, names, time.Minute); err != nil {
		s.log.WarnContext(ctx, "password: could not list the removed sign-in methods after a reset", "error", err)
	}
	return c.Redirect(c.URL(ID + "/done")), nil
}

// removedCookie stores the names of the removed sign-in methods for the next page.
const removedCookie = "password-removed"

func methodName(l ui.Locale, m core.SignInMethod) string {
	if m.Passkey {
		return l.Say(textPasskey)
	}
	return m.Name
}

// replace uses up the link and sets the password. Of concurrent requests with one link, one succeeds. Sessions end
// before that, so that a failure of the store changes neither password nor link, and again after it, for sessions that
// started in between.
func (s *resets) replace(ctx context.Context, c *core.ActionRequest, o *openReset, hash hashed) error {
	if err := s.revoker.sessions(ctx, o.user.ID); err != nil {
		return err
	}
	if err := s.links.use(ctx, o.record); err != nil {
		return err
	}
	err := c.Announce(ctx, s.changed(o.user))
	if err == nil {
		err = s.emails.change(ctx, c, o.user, func(ctx context.Context) error {
			if err := s.passwords.set(ctx, o.user.ID, hash, false, o.old); err != nil {
				return err
			}
			return s.recheckAddress(ctx, o)
		})
	}
	if err != nil {
		if !errors.Is(err, core.ErrConflict) {
			s.links.restore(ctx, o.record)
		}
		return err
	}
	if err := s.revoker.sessions(ctx, o.user.ID); err != nil {
		s.log.ErrorContext(ctx, "password: sessions from before a password reset may still be valid",
			"user", o.user.ID, "error", err)
	}
	return nil
}

// recheckAddress deletes the password again if the link's address no longer belongs to the user, and returns
// core.ErrConflict then. Its owner may have undone an address change while the hash was computed.
func (s *resets) recheckAddress(ctx context.Context, o *openReset) error {
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

func (s *resets) changed(user *core.User) audit.Event {
	return audit.Event{Name: audit.PasswordSet, Outcome: audit.OK, UserID: user.ID, Provider: s.provider}
}

// after deletes the links and remembered devices of the old password. A failure does not undo the reset.
func (s *resets) after(ctx context.Context, c *core.ActionRequest, user *core.User) {
	c.RememberBrowser(ctx, user)
	s.revoker.links(ctx, user.ID)
	c.Audit(ctx, s.changed(user))
	resetCounts(ctx, c, user)
	if s.names == nil {
		return
	}
	if _, has, err := s.names.load(ctx, user.ID); err == nil && has.Name != "" {
		c.ResetAttempts(ctx, limit.AttemptInARow, has.Name)
	}
}

// resetCounts resets the counts of wrong passwords for a user, at the sign-in page and for a change.
func resetCounts(ctx context.Context, c *core.ActionRequest, user *core.User) {
	c.ResetAttempts(ctx, limit.AttemptInARow, user.ID)
	if address, ok := isMail(user.Email); ok {
		c.ResetAttempts(ctx, limit.AttemptInARow, address)
	}
}

// showDone handles GET password/done. Its page links to the site if the user is signed in, and to the sign-in page
// otherwise.
func (s *resets) showDone(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	page := c.Page("")
	v := doneView{action: c.URL("signin"), label: textDoneSignIn, text: textDoneOnly}
	if s.host.CanEndSessions() {
		v.text = textDoneBody
	}
	if session, err := c.Session(ctx); err == nil && session != nil {
		v.action, v.label = c.Home, textDoneGoOn
		if s.codes != nil && session.User != nil && session.User.Email == "" {
			v.text = textDoneAlone // no email was sent
		}
	}
	if c.EncryptedCookie(removedCookie, &v.removed) {
		c.DeleteEncryptedCookie(removedCookie)
	}
	return c.Render(ctx, http.StatusOK, page, donePage(page, v)), nil
}

// doneView is the data of the page after a password was set.
type doneView struct {
	action      string
	label, text ui.Text
	removed     []string // names of sign-in methods
}
