package password

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// changes are how somebody who is signed in changes their password.
type changes struct {
	provider  string
	pages     *pages
	chosen    *newPasswords
	passwords *passwords
	hashes    *hasher
	endings   *endings
	letters   *letters
	users     core.Store
	log       *slog.Logger
}

func changeForm(c *core.Call, address string) form {
	return form{textChange, func(page ui.Page, v filled) templ.Component {
		return changePage(page, c.URL(ID+"/change"), c.URL(ID+"/forgot"), v)
	}, filled{email: address}}
}

// show answers GET password/change.
func (s *changes) show(ctx context.Context, c *core.Call) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err != nil || session == nil || session.User == nil {
		return nil, err
	}
	return s.pages.show(ctx, c, http.StatusOK, changeForm(c, session.User.Email))
}

// change answers POST password/change (current, newPassword) of a signed-in visitor. Their other sessions end, and this
// one goes on under another token.
func (s *changes) change(ctx context.Context, c *core.Call) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err != nil || session == nil || session.User == nil { // guarded: nobody comes here without one
		return nil, errors.Join(errors.New("password: change: nobody is signed in"), err)
	}
	user, err := userByID(ctx, s.users, session.User.ID)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, errors.New("password: change: the store has no user of this session")
	}
	old, err := s.current(ctx, c, user)
	if err != nil {
		return s.pages.again(ctx, c, changeForm(c, user.Email), err)
	}
	hash, err := s.chosen.take(withPriority(ctx, c), c, c.Field("newPassword"), user.Email)
	if err != nil {
		return s.pages.again(ctx, c, changeForm(c, user.Email), err)
	}
	// Before, so that a store that fails here leaves all as it is; and once more afterwards, for what began in between.
	if err := s.endings.others(ctx, c); err != nil {
		return nil, err
	}
	switch err := s.passwords.set(ctx, user.ID, hash, user.EmailVerified.IsZero(), old); {
	case errors.Is(err, core.ErrConflict):
		return s.pages.again(ctx, c, changeForm(c, user.Email), problem(http.StatusConflict, codeChanged, textChanged))
	case err != nil:
		return nil, err
	}
	if err := s.after(ctx, c, user); err != nil {
		return nil, err
	}
	return next(ctx, c, http.StatusOK, "done", ID+"/done")
}

// guesses are what typing a password is counted as.
var guesses = []core.Attempt{core.AttemptCredentials, core.AttemptInARow}

// current asks for the password that the visitor has. Somebody without one is answered as a wrong password is: they set
// their first by a letter.
func (s *changes) current(ctx context.Context, c *core.Call, user *core.User) (*stored, error) {
	current := c.Field("current")
	wrong := problem(http.StatusUnauthorized, codeWrong, textWrong)
	if current == "" || len(current) > longest {
		return nil, wrong
	}
	for _, attempt := range guesses {
		if err := c.Allow(ctx, attempt, user.ID); err != nil {
			return nil, err
		}
	}
	old, err := s.passwords.opening(ctx, user)
	if err != nil {
		return nil, err
	}
	ok, _, err := s.hashes.matches(withPriority(ctx, c), current, old)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, wrong
	}
	for _, attempt := range guesses {
		c.Forgive(ctx, attempt, user.ID)
	}
	return old, nil
}

// after ends what the old password may have begun.
func (s *changes) after(ctx context.Context, c *core.Call, user *core.User) error {
	c.Audit(ctx, core.AuditEvent{
		Name: core.AuditPasswordChanged, Outcome: core.OutcomeOK, UserID: user.ID, Provider: s.provider,
	})
	c.KnowBrowser(ctx, user)
	s.letters.notifyChanged(ctx, c, user)
	s.endings.links(ctx, user.ID)
	err := s.endings.others(ctx, c)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		s.log.ErrorContext(ctx, "password: sessions may have outlived a change", "user", user.ID, "error", err)
	}
	if !errors.Is(err, core.ErrNotFound) {
		err = c.Reissue(ctx, core.MethodPassword)
	}
	if errors.Is(err, core.ErrNotFound) { // the session has ended: the password is changed, and the user signs in again
		s.log.InfoContext(ctx, "password: the session of a change has ended", "user", user.ID, "error", err)
		return nil
	}
	return err
}
