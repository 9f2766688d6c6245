package password

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/ui"
)

// changes handles password changes of signed-in users.
type changes struct {
	provider  string
	pages     *pages
	chosen    *newPasswords
	passwords *passwords
	hashes    *hasher
	revoker   *revoker
	emails    *emails
	users     core.Store
	log       *slog.Logger
}

func (s *changes) actions() []core.Action {
	return []core.Action{
		{Method: http.MethodGet, Verb: "change", Require: requireSessionID, Handle: s.show},
		{Method: http.MethodPost, Verb: "change", Require: requireSessionID, Handle: s.change},
	}
}

func changeForm(c *core.ActionRequest, address string) form {
	return form{textChange, func(page ui.Page, v filled) templ.Component {
		return changePage(page, c.URL(ID+"/change"), c.URL(ID+"/forgot"), v)
	}, filled{email: address}}
}

func (s *changes) show(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err != nil || session == nil || session.User == nil {
		return nil, err
	}
	return s.pages.show(ctx, c, http.StatusOK, changeForm(c, session.User.Email))
}

// change handles POST password/change (current, newPassword). It ends the user's other sessions. The current session
// continues with a new token.
func (s *changes) change(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err != nil || session == nil || session.User == nil { // the guards require a session
		return nil, errors.Join(errors.New("password: change: no user is signed in"), err)
	}
	user, err := userByID(ctx, s.users, session.User.ID)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, errors.New("password: change: the session's user is not in the store")
	}
	old, err := s.current(ctx, c, user)
	if err != nil {
		return s.pages.showAgain(ctx, c, changeForm(c, user.Email), err)
	}
	hash, err := s.chosen.take(withPriority(ctx, c), c, c.Field("newPassword"), user.Email)
	if err != nil {
		return s.pages.showAgain(ctx, c, changeForm(c, user.Email), err)
	}
	// End the other sessions before the change, so that a failure of the store changes nothing, and again after it, for
	// sessions that started in between.
	if err := s.revoker.others(ctx, c); err != nil {
		return nil, err
	}
	if err := c.Announce(ctx, s.changed(user)); err != nil {
		return nil, err
	}
	err = s.emails.change(ctx, c, user, func(ctx context.Context) error {
		return s.passwords.set(ctx, user.ID, hash, isUnproved(user), old)
	})
	switch {
	case errors.Is(err, core.ErrConflict):
		return s.pages.showAgain(ctx, c, changeForm(c, user.Email), problem(http.StatusConflict, codeChanged, textChanged))
	case err != nil:
		return nil, err
	}
	if err := s.after(ctx, c, user); err != nil {
		return nil, err
	}
	return next(ctx, c, http.StatusOK, "done", ID+"/done")
}

// guesses are the attempts that a typed password counts as.
var guesses = []limit.Attempt{limit.AttemptCredentials, limit.AttemptInARow}

// current checks the current password. For a user without a password the response is the same as for a wrong one. Such
// users set their first password with a link by email.
func (s *changes) current(ctx context.Context, c *core.ActionRequest, user *core.User) (*stored, error) {
	current := c.Field("current")
	wrong := problem(http.StatusUnauthorized, codeWrong, textWrong)
	if current == "" || len(current) > maxPasswordBytes {
		return nil, wrong
	}
	for _, attempt := range guesses {
		if err := c.Allow(ctx, attempt, user.ID); err != nil {
			return nil, err
		}
	}
	old, err := s.passwords.usable(ctx, user)
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
		c.ResetAttempts(ctx, attempt, user.ID)
	}
	return old, nil
}

func (s *changes) changed(user *core.User) audit.Event {
	return audit.Event{Name: audit.PasswordChanged, Outcome: audit.OK, UserID: user.ID, Provider: s.provider}
}

// after ends the sessions, links and devices of the old password.
func (s *changes) after(ctx context.Context, c *core.ActionRequest, user *core.User) error {
	c.Audit(ctx, s.changed(user))
	c.RememberBrowser(ctx, user)
	s.revoker.links(ctx, user.ID)
	err := s.revoker.others(ctx, c)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		s.log.ErrorContext(ctx, "password: sessions from before a password change may still be valid",
			"user", user.ID, "error", err)
	}
	if !errors.Is(err, core.ErrNotFound) {
		err = c.RenewSession(ctx, amr.Password)
	}
	if errors.Is(err, core.ErrNotFound) { // the session expired: the password is changed, and the user signs in again
		s.log.InfoContext(ctx, "password: the session ended during the password change", "user", user.ID, "error", err)
		return nil
	}
	return err
}

// requireSessionID is a guard that requires a session with an ID, because a change ends all sessions except that one.
// Sessions of Auth.js and of early versions have no ID; their users sign in again.
var requireSessionID = []core.Guard{func(ctx context.Context, session *core.Session) error {
	if session.ID == "" {
		return core.RecentSignIn(15*time.Minute)(ctx, session)
	}
	return nil
}}
