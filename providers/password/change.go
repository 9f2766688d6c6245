package password

import (
	"context"
	"errors"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
)

// change answers POST password/change (current, newPassword) of a signed-in visitor. Their other sessions end, and this
// one goes on under another token.
func (s *service) change(ctx context.Context, c *core.Call) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err != nil || session == nil || session.User == nil { // guarded: nobody comes here without one
		return nil, errors.Join(errors.New("password: change: nobody is signed in"), err)
	}
	user, err := s.user(ctx, session.User.ID)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, errors.New("password: change: the store has no user of this session")
	}
	old, err := s.current(ctx, c, user)
	if err != nil {
		return s.again(ctx, c, s.changeForm(c, user.Email), err)
	}
	password := c.Field("newPassword")
	if err := s.choose(ctx, password, user.Email, c.Host()); err != nil {
		return s.again(ctx, c, s.changeForm(c, user.Email), err)
	}
	hash, err := s.hash(ctx, password)
	if err != nil {
		return s.again(ctx, c, s.changeForm(c, user.Email), err)
	}
	// Before, so that a store that fails here leaves all as it is; and once more afterwards, for what began in between.
	if err := s.endOthers(ctx, c); err != nil {
		return nil, err
	}
	switch err := s.set(ctx, s.records, user.ID, s.setFor(hash, user.EmailVerified.IsZero()), old); {
	case errors.Is(err, core.ErrConflict):
		return s.again(ctx, c, s.changeForm(c, user.Email), problem(http.StatusConflict, codeChanged,
			textChanged))
	case err != nil:
		return nil, err
	}
	if err := s.afterChange(ctx, c, user); err != nil {
		return nil, err
	}
	return s.next(ctx, c, http.StatusOK, "done", ID+"/done")
}

// guesses are what typing a password is counted as.
var guesses = []core.Attempt{core.AttemptCredentials, core.AttemptInARow}

// current asks for the password that the visitor has. Somebody without one is answered as a wrong password is: they set
// their first by a letter.
func (s *service) current(ctx context.Context, c *core.Call, user *core.User) (*stored, error) {
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
	old, err := s.passwordOf(ctx, user)
	if err != nil {
		return nil, err
	}
	ok, _, err := s.matches(ctx, current, old)
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

// afterChange ends what the old password may have begun.
func (s *service) afterChange(ctx context.Context, c *core.Call, user *core.User) error {
	c.Audit(ctx, core.AuditEvent{
		Name: core.AuditPasswordChanged, Outcome: core.OutcomeOK, UserID: user.ID, Provider: s.ID,
	})
	s.tellChanged(ctx, c, user)
	for _, kind := range []string{kindReset, kindDevice} {
		if _, err := s.records.DeleteUserRecords(ctx, user.ID, kind); err != nil {
			s.h.Logger.ErrorContext(ctx, "password: records outlived a change", "user", user.ID, "kind", kind, "error", err)
		}
	}
	if err := s.endOthers(ctx, c); err != nil {
		s.h.Logger.ErrorContext(ctx, "password: sessions may have outlived a change", "user", user.ID, "error", err)
	}
	return c.Reissue(ctx, core.MethodPassword)
}

// endOthers ends the visitor's other sessions, where something can end them.
func (s *service) endOthers(ctx context.Context, c *core.Call) error {
	_, err := c.EndOthers(ctx)
	return s.orGoOn(ctx, err)
}
