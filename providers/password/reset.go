package password

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// asked is the record of a link to choose a new password. Its key is the digest of the token, its owner the user.
type asked struct {
	// Was says which password the person had, and Email which address, when the link was made. With another it is void.
	Was   string `json:"was"`
	Email string `json:"email"`
}

// chosen is the cookie that a link leaves: the digest of its token, so that the token stays in no address bar.
type chosen struct {
	Digest string `json:"d"`
}

const resetCookie = "password-reset"

// fingerprint names the password that somebody has, and tells nothing of it.
func fingerprint(p *stored) string {
	if p == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(strconv.FormatInt(p.version, 10) + " " + p.Hash))
	return hex.EncodeToString(sum[:16])
}

// forgot answers POST password/forgot (email). Whether somebody is known is looked up after the answer.
func (s *service) forgot(ctx context.Context, c *core.Call) (*core.Response, error) {
	address, ok := isMail(c.Field("email"))
	if !ok {
		return s.again(ctx, c, s.forgotForm(c), problem(http.StatusUnprocessableEntity, codeEmail, textAddress))
	}
	if err := c.Allow(ctx, core.AttemptMail, address); err != nil {
		return nil, err
	}
	token, err := s.h.NewToken()
	if err != nil {
		return nil, err
	}
	l := s.letter(c, core.LetterReset, address)
	l.URL = core.Secret(c.URL(ID+"/reset", "token", token))
	err = s.later(ctx, func(ctx context.Context) error {
		user, err := s.userByEmail(ctx, address)
		if err != nil || user == nil {
			return err
		}
		return s.mailReset(ctx, user, token, l)
	})
	if err != nil {
		return s.again(ctx, c, s.forgotForm(c), err)
	}
	c.Audit(ctx, core.AuditEvent{Name: core.AuditPasswordResetAsked, Outcome: core.OutcomeOK, Subject: address})
	return s.next(ctx, c, http.StatusAccepted, "mail", ID+"/sent")
}

// mailReset keeps a link and mails it. A letter that cannot be sent leaves none behind.
func (s *service) mailReset(ctx context.Context, user *core.User, token string, l core.Letter) error {
	old, err := s.password(ctx, user.ID)
	if err != nil {
		return err
	}
	value, err := json.Marshal(asked{Was: fingerprint(old), Email: user.Email})
	if err != nil {
		return err
	}
	record := &store.Record{
		Kind: kindReset, Key: s.h.Digest(kindReset, token), UserID: user.ID, Value: value,
		Expires: s.h.Now().Add(s.o.ResetFor),
	}
	if err := s.records.CreateRecord(ctx, record); err != nil {
		return fmt.Errorf("password: keep the link: %w", err)
	}
	l.To, l.Expires = user.Email, record.Expires
	if err := s.send(ctx, l); err != nil {
		_, undo := s.records.DeleteRecord(context.WithoutCancel(ctx), kindReset, record.Key)
		return errors.Join(err, undo)
	}
	return nil
}

// showReset answers GET password/reset. With a token it puts that into a cookie and leads on to the same address
// without, so that the token is not in the history, and in no Referer. It asks the store nothing: scanners of mails
// open links too.
func (s *service) showReset(ctx context.Context, c *core.Call) (*core.Response, error) {
	token := c.Field("token")
	if token == "" {
		return s.page(ctx, c, http.StatusOK, s.resetForm(c))
	}
	if len(token) > longestToken {
		return nil, errLink
	}
	if err := c.Keep(resetCookie, chosen{s.h.Digest(kindReset, token)}, s.o.ResetFor); err != nil {
		return nil, err
	}
	return c.Redirect(c.URL(ID + "/reset")), nil
}

// reset answers POST password/reset (newPassword, and link of the form that was shown). It signs nobody in, so it
// passes no gate by; it ends all sessions. A link that another tab has opened since, which may be a stranger's, has
// taken the cookie over: the form of the first tab changes nothing then. Programs, which open one link, send none.
func (s *service) reset(ctx context.Context, c *core.Call) (*core.Response, error) {
	var link chosen
	if !c.Kept(resetCookie, &link) {
		return nil, errLink
	}
	form := c.Field("link")
	if form != "" && subtle.ConstantTimeCompare([]byte(form), []byte(link.Digest)) == 0 {
		return nil, errOtherLink
	}
	record, user, old, err := s.resetOf(ctx, link.Digest)
	switch {
	case err != nil:
		return nil, err
	case record == nil:
		c.Drop(resetCookie)
		return nil, errLink
	}
	password := c.Field("newPassword")
	if err := s.choose(ctx, password, user.Email, c.Host()); err != nil {
		return s.again(ctx, c, s.resetForm(c), err)
	}
	hash, err := s.hash(ctx, password)
	if err != nil {
		return s.again(ctx, c, s.resetForm(c), err)
	}
	// Whoever has the link reads the mailbox. What strangers attached goes first: when that fails nothing has changed.
	if err := c.ProveEmail(ctx, user.ID); err != nil {
		return nil, err
	}
	switch err := s.replace(ctx, record, user, old, hash); {
	case errors.Is(err, core.ErrNotFound), errors.Is(err, core.ErrConflict):
		c.Drop(resetCookie)
		return nil, errLink
	case err != nil:
		return nil, err
	}
	c.Drop(resetCookie)
	s.afterReset(ctx, c, user)
	return s.next(ctx, c, http.StatusOK, "signin", ID+"/done")
}

// resetOf finds what a link is for: its record, the user, and the password that they have. A nil record: the link is
// used, has expired, or the password or the address is another one by now.
func (s *service) resetOf(ctx context.Context, digest string) (*store.Record, *core.User, *stored, error) {
	record, err := s.recordBy(ctx, kindReset, []string{digest})
	if err != nil || record == nil {
		return nil, nil, nil, err
	}
	var link asked
	if err := json.Unmarshal(record.Value, &link); err != nil {
		return nil, nil, nil, fmt.Errorf("password: a link cannot be read: %w", err)
	}
	user, err := s.user(ctx, record.UserID)
	if err != nil || user == nil {
		return nil, nil, nil, err
	}
	old, err := s.password(ctx, user.ID)
	if err != nil || user.Email != link.Email || fingerprint(old) != link.Was {
		return nil, nil, nil, err
	}
	return record, user, old, nil
}

// replace uses a link up and sets the password: of any number that come with one link, one succeeds. Sessions are ended
// before, so that a store that fails there leaves the password and the link as they are, and once more afterwards, for
// one that began in between.
func (s *service) replace(
	ctx context.Context, record *store.Record, user *core.User, old *stored, hash string,
) error {
	if err := s.endSessions(ctx, user.ID); err != nil {
		return err
	}
	if _, err := s.records.DeleteRecord(ctx, kindReset, record.Key); err != nil {
		return err
	}
	if err := s.set(ctx, s.records, user.ID, s.setFor(hash, false), old); err != nil {
		if !errors.Is(err, core.ErrConflict) {
			s.restore(ctx, record)
		}
		return err
	}
	if err := s.endSessions(ctx, user.ID); err != nil {
		s.h.Logger.ErrorContext(ctx, "password: sessions may have outlived a reset", "user", user.ID, "error", err)
	}
	return nil
}

// afterReset ends what an old password may have left behind: links and remembered devices. None of it undoes the reset
// when it fails.
func (s *service) afterReset(ctx context.Context, c *core.Call, user *core.User) {
	for _, kind := range []string{kindReset, kindDevice} {
		if _, err := s.records.DeleteUserRecords(ctx, user.ID, kind); err != nil {
			s.h.Logger.ErrorContext(ctx, "password: records outlived a reset", "user", user.ID, "kind", kind, "error", err)
		}
	}
	c.Audit(ctx, core.AuditEvent{Name: core.AuditPasswordSet, Outcome: core.OutcomeOK, UserID: user.ID, Provider: s.ID})
	s.forgive(ctx, c, user)
	s.tellChanged(ctx, c, user)
}

// forgive forgets the wrong passwords that were typed for somebody, at the sign-in page and for a change.
func (s *service) forgive(ctx context.Context, c *core.Call, user *core.User) {
	c.Forgive(ctx, core.AttemptInARow, user.ID)
	if address, ok := isMail(user.Email); ok {
		c.Forgive(ctx, core.AttemptInARow, address)
	}
}

// endSessions ends all sessions of a user, where something can end them.
func (s *service) endSessions(ctx context.Context, userID string) error {
	_, err := s.h.Auth.EndSessions(ctx, userID, core.EndOptions{})
	return s.orGoOn(ctx, err)
}

// orGoOn passes over the error of a configuration in which sessions cannot be ended, such as encrypted cookies without
// revocation: that is the application's choice, which the log tells.
func (s *service) orGoOn(ctx context.Context, err error) error {
	if errors.Is(err, core.ErrInvalidConfig) || errors.Is(err, core.ErrMissingStoreMethods) {
		s.h.Logger.WarnContext(ctx, "password: the sessions of a user go on, as nothing can end them", "error", err)
		return nil
	}
	return err
}
