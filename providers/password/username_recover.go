package password

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/ui"
)

// recoveries handles the recovery codes of usernames: a code sets a new password, and a signed-in user creates new
// codes.
type recoveries struct {
	resets *resets
	names  *usernames
}

func (s *recoveries) actions() []core.Action {
	recent := []core.Guard{core.RecentSignIn(15 * time.Minute)}
	return []core.Action{
		{Method: http.MethodGet, Verb: "recover", Handle: s.show},
		{Method: http.MethodPost, Verb: "recover", Handle: s.recover},
		{Method: http.MethodGet, Verb: "recovery-codes", Require: recent, Handle: s.showCodes},
		{Method: http.MethodPost, Verb: "recovery-codes", Require: recent, Handle: s.renew},
		{Method: http.MethodPost, Verb: "remove-recovery-codes", Require: recent, Handle: s.remove},
	}
}

func recoverForm(c *core.ActionRequest) form {
	return form{textRecover, func(page ui.Page, v filled) templ.Component {
		return recoverPage(page, c.URL(ID+"/recover"), c.URL("signin"), v)
	}, filled{username: c.Field("username"), challenge: challenge.Reset}}
}

func (s *recoveries) show(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	f := recoverForm(c)
	f.username = "" // a link must not prefill the form
	return s.resets.pages.show(ctx, c, http.StatusOK, f)
}

// recover handles POST password/recover (username, code, newPassword). The response and the work are the same for an
// unknown username, a user without codes and a wrong code. Wrong codes are counted for the username, separately from
// wrong passwords, so that an attacker cannot prevent sign-ins. A right code ends all sessions. As after a reset by
// email, the user is not signed in, so that no sign-in gate is bypassed.
func (s *recoveries) recover(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	f, typed, password := recoverForm(c), countedName(c.Field("username")), c.Field("newPassword")
	if len(typed) > maxUsernameBytes {
		typed = "-"
	}
	if err := c.CheckChallenge(ctx, challenge.Reset); err != nil {
		return s.resets.pages.showAgain(ctx, c, f, err)
	}
	if err := s.resets.chosen.policy.check(ctx, password, typed, c.Host()); err != nil {
		return s.resets.pages.showAgain(ctx, c, f, err)
	}
	if err := c.Allow(ctx, limit.AttemptCode, typed); err != nil {
		return nil, err
	}
	r, err := s.find(ctx, typed, c.Field("code"))
	if err != nil {
		return nil, err
	}
	if r == nil {
		c.Audit(ctx, audit.Event{
			Name: audit.RecoveryUsed, Outcome: audit.Refused, Reason: audit.ReasonCredentials, Subject: typed,
			Provider: s.resets.provider,
		})
		return s.resets.pages.showAgain(ctx, c, f, errRecovery)
	}
	hash, err := s.resets.chosen.hashes.hash(withPriority(ctx, c), password)
	if err == nil {
		err = s.replace(ctx, c, r, hash)
	}
	switch {
	case errors.Is(err, errCodeUsed):
		return s.resets.pages.showAgain(ctx, c, f, errRecovery)
	case err != nil:
		return s.resets.pages.showAgain(ctx, c, f, err)
	}
	c.ResetAttempts(ctx, limit.AttemptCode, typed)
	s.resets.after(ctx, c, r.user)
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, recovered{Next: "signin", Left: r.left}), nil
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, recoveredPage(page, c.URL("signin"), r.left)), nil
}

// recovery is a right recovery code.
type recovery struct {
	user   *core.User
	set    *recoverySet
	number int
	left   int // codes after this one was used
}

// find returns the user of a username if the code is right, or nil.
func (s *recoveries) find(ctx context.Context, typed, code string) (*recovery, error) {
	user, err := s.names.find(ctx, typed)
	if err != nil {
		return nil, err
	}
	r := &recovery{user: user}
	id := ""
	if user != nil {
		id = user.ID
	}
	if r.set, _, err = s.names.codes.load(ctx, id); err != nil {
		return nil, err
	}
	if r.number, err = s.names.codes.match(r.set, code); err != nil || r.number < 0 {
		return nil, err
	}
	return r, nil
}

// replace uses up the code and sets the password. Of concurrent requests with one code, one succeeds. Sessions end
// before that, so that a failure of the store changes nothing, and again after it, for sessions from in between.
func (s *recoveries) replace(ctx context.Context, c *core.ActionRequest, r *recovery, hash hashed) error {
	id := r.user.ID
	old, err := s.resets.passwords.load(ctx, id)
	if err != nil {
		return err
	}
	if err := s.resets.revoker.sessions(ctx, id); err != nil {
		return err
	}
	used := audit.Event{Name: audit.RecoveryUsed, Outcome: audit.OK, UserID: id, Provider: s.resets.provider}
	for _, e := range []audit.Event{used, s.resets.changed(r.user)} {
		if err := c.Announce(ctx, e); err != nil {
			return err
		}
	}
	if r.left, err = s.names.codes.use(ctx, id, r.set, r.number); err != nil {
		return err
	}
	err = s.resets.emails.change(ctx, c, r.user, func(ctx context.Context) error {
		return s.resets.passwords.set(ctx, id, hash, isUnproved(r.user), old)
	})
	if err != nil {
		s.names.codes.restore(ctx, id, r.set, r.number)
		if errors.Is(err, core.ErrConflict) {
			err = problem(http.StatusConflict, codeChanged, textChanged)
		}
		return err
	}
	c.Audit(ctx, used)
	if err := s.resets.revoker.sessions(ctx, id); err != nil {
		s.resets.log.ErrorContext(ctx, "password: sessions from before a recovery may still be valid", "user", id,
			"error", err)
	}
	return nil
}

// recoveryView is the data of the page of the recovery codes.
type recoveryView struct {
	csrf, renew, remove string // remove is empty if the codes cannot be removed
	left                int
}

// showCodes handles GET password/recovery-codes.
func (s *recoveries) showCodes(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	user, err := s.user(ctx, c)
	if err != nil {
		return nil, err
	}
	left, err := s.names.codes.left(ctx, user.ID)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, codesLeft{left}), nil
	}
	page := c.Page("")
	v := recoveryView{csrf: c.CSRFToken, renew: c.URL(ID + "/recovery-codes"), left: left}
	if left > 0 && hasAddress(user) {
		v.remove = c.URL(ID + "/remove-recovery-codes")
	}
	return c.Render(ctx, http.StatusOK, page, recoveryPage(page, v)), nil
}

// user returns the user of the session as the store has them.
func (s *recoveries) user(ctx context.Context, c *core.ActionRequest) (*core.User, error) {
	session, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	user, err := userByID(ctx, s.names.users, session.UserID)
	if err == nil && user == nil {
		err = errors.New("password: the session's user is not in the store")
	}
	return user, err
}

// renew handles POST password/recovery-codes: new codes, which are shown once. The old ones are void.
func (s *recoveries) renew(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	user, err := s.user(ctx, c)
	if err != nil {
		return nil, err
	}
	_, has, err := s.names.load(ctx, user.ID)
	switch {
	case err != nil:
		return nil, err
	case has.Name == "":
		return nil, errNoUsername
	}
	shown, set, err := s.names.codes.make()
	if err != nil {
		return nil, err
	}
	err = c.NotifyChange(ctx, core.SecurityNotice{
		Kind: mailkind.RecoveryRenewed, UserID: user.ID, Method: methodUsername,
		Audit: audit.Event{Name: audit.RecoveryRenewed, Provider: s.resets.provider},
	}, func(ctx context.Context) error {
		return s.names.codes.change(ctx, user.ID, func(*recoverySet) (*recoverySet, error) { return set, nil })
	})
	if err != nil {
		return nil, err
	}
	return s.resets.pages.codes(ctx, c, c.Redirect(c.Home), shown), nil
}

// methodUsername is the SecurityNotice.Method of a notice about the recovery codes of a username. Those of second
// factors have none.
const methodUsername = "username"

// remove handles POST password/remove-recovery-codes. Without a verified address, the codes are the only way back into
// the account, and stay.
func (s *recoveries) remove(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	user, err := s.user(ctx, c)
	switch {
	case err != nil:
		return nil, err
	case !hasAddress(user):
		return nil, errOnlyRecovery
	}
	if err := s.names.codes.removeAudited(ctx, c, user.ID); err != nil {
		return nil, err
	}
	return next(ctx, c, http.StatusOK, "done", ID+"/recovery-codes")
}

// disavow removes the recovery codes that the owner of the account has not created. After a change of the password that
// was not theirs too, because the attacker may have used one of the codes and know the others.
func (s *recoveries) disavow(ctx context.Context, _ *core.ActionRequest, n core.SecurityNotice) error {
	if n.Kind == mailkind.PasswordChanged || n.Kind == mailkind.RecoveryRenewed && n.Method == methodUsername {
		return s.names.codes.remove(ctx, n.UserID)
	}
	return nil
}
