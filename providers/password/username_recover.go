package password

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/recoverycode"
	"github.com/latchkey-go/latchkey/ui"
)

// recoveries handles the recovery codes of usernames: a code sets a new password, and a signed-in user creates new
// codes.
type recoveries struct {
	resets *resets
	names  *usernames
	codes  *recoveryCodes
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
	if r.set, _, err = s.codes.load(ctx, id); err != nil {
		return nil, err
	}
	if r.number, err = s.codes.match(r.set, code); err != nil || r.number < 0 {
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
	if r.left, err = s.codes.use(ctx, id, r.set, r.number); err != nil {
		return err
	}
	err = s.resets.emails.change(ctx, c, r.user, func(ctx context.Context) error {
		return s.resets.passwords.set(ctx, id, hash, isUnproved(r.user), old)
	})
	if err != nil {
		s.codes.restore(ctx, id, r.set, r.number)
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
	left, err := s.codes.left(ctx, user.ID)
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
	var shown []string
	err = c.NotifyChange(ctx, core.SecurityNotice{
		Kind: mailkind.RecoveryRenewed, UserID: user.ID, Method: methodUsername,
		Audit: audit.Event{Name: audit.RecoveryRenewed, Provider: s.resets.provider},
	}, func(ctx context.Context) (err error) {
		shown, err = s.codes.replace(ctx, user.ID)
		return err
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
	if err := s.codes.removeAudited(ctx, c, user.ID); err != nil {
		return nil, err
	}
	return next(ctx, c, http.StatusOK, "done", ID+"/recovery-codes")
}

// disavow removes the recovery codes that the owner of the account has not created. After a change of the password that
// was not theirs too, because the attacker may have used one of the codes and know the others.
func (s *recoveries) disavow(ctx context.Context, _ *core.ActionRequest, n core.SecurityNotice) error {
	if n.Kind == mailkind.PasswordChanged || n.Kind == mailkind.RecoveryRenewed && n.Method == methodUsername {
		return s.codes.remove(ctx, n.UserID)
	}
	return nil
}

// hasAddress reports whether a user can reset the password by email.
func hasAddress(u *core.User) bool { return u.Email != "" && !u.EmailVerified.IsZero() }

// isUnproved reports whether a password of the user can be that of another person, who signed up with the user's
// address. A user without an address has no such risk.
func isUnproved(u *core.User) bool { return u.Email != "" && u.EmailVerified.IsZero() }

// leftText returns the number of remaining codes, or a request to create new ones if few remain.
func leftText(left int) ui.Text {
	if left <= recoverycode.Low {
		return textRecoveryLow.With(strconv.Itoa(left))
	}
	return textRecoveryLeft.With(strconv.Itoa(left))
}

// kindRecovery is the kind of the records with recovery codes.
const kindRecovery = "username-recovery"

// recoverySet is the value of a record. Its key is the user's ID. All codes of a user are in one record, so that a
// compare-and-set decides between concurrent uses of a code.
type recoverySet struct {
	Made time.Time `json:"made"`
	// Salted is the salt of all codes, so that a guess is hashed once. Its Hash is empty.
	Salted recoverycode.Hash `json:"salted"`
	// Codes are the hashes of the unused codes by their number.
	Codes map[int][]byte `json:"codes"`
}

// same reports whether both sets were created together.
func (s *recoverySet) same(as *recoverySet) bool { return slices.Equal(s.Salted.Salt, as.Salted.Salt) }

// recoveryCodes creates and checks the codes that set a new password for a username. They are stored as salted hashes.
// The hashes do not depend on Config.Secrets: users without an address could not return after a rotation.
type recoveryCodes struct {
	host    *core.PluginHost // for the clock and random values
	records store.RecordStore
}

// make returns new codes in the form for users, and their set.
func (r *recoveryCodes) make() (shown []string, set *recoverySet, err error) {
	salted, err := recoverycode.NewHash(r.host.Rand, recoverycode.Rounds)
	if err != nil {
		return nil, nil, fmt.Errorf("password: create recovery codes: %w", err)
	}
	set = &recoverySet{r.host.Now().UTC().Truncate(time.Second), salted, map[int][]byte{}}
	for i := range recoverycode.Count {
		code, err := recoverycode.New(r.host.Rand, i)
		if err == nil {
			set.Codes[i], err = salted.Compute(code)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("password: create recovery codes: %w", err)
		}
		shown = append(shown, recoverycode.Format(code))
	}
	return shown, set, nil
}

// load returns the codes of a user and their record, or nil. For an empty ID it calls the store too.
func (r *recoveryCodes) load(ctx context.Context, userID string) (*recoverySet, *store.Record, error) {
	record, err := r.records.Record(ctx, kindRecovery, orDash(userID))
	switch {
	case errors.Is(err, core.ErrNotFound), err == nil && record.UserID != userID:
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("password: read recovery codes: %w", err)
	}
	set := new(recoverySet)
	if err := json.Unmarshal(record.Value, set); err != nil {
		return nil, nil, fmt.Errorf("password: decode the recovery codes of user %q: %w", userID, err)
	}
	return set, record, nil
}

// left returns the number of unused codes of a user.
func (r *recoveryCodes) left(ctx context.Context, userID string) (int, error) {
	set, _, err := r.load(ctx, userID)
	if err != nil || set == nil {
		return 0, err
	}
	return len(set.Codes), nil
}

// write stores the codes of a user. before is the record that they replace, or nil. It returns core.ErrConflict if
// another request has changed the record.
func (r *recoveryCodes) write(ctx context.Context, userID string, set *recoverySet, before *store.Record) error {
	value, err := json.Marshal(set)
	if err != nil {
		return err
	}
	record := &store.Record{Kind: kindRecovery, Key: userID, UserID: userID, Value: value}
	if before == nil {
		return r.records.CreateRecord(ctx, record)
	}
	record.Version = before.Version
	err = r.records.UpdateRecord(ctx, record)
	if errors.Is(err, core.ErrNotFound) {
		return core.ErrConflict
	}
	return err
}

// maxCodeWrites is the maximum number of attempts to change the codes of a user while other requests change them.
const maxCodeWrites = 20

// change changes the codes of a user by compare-and-set. change receives nil if there are none, and returns what to
// store; its error stops the change.
func (r *recoveryCodes) change(
	ctx context.Context, userID string, change func(*recoverySet) (*recoverySet, error),
) error {
	for n := 1; ; n++ {
		set, record, err := r.load(ctx, userID)
		if err == nil {
			set, err = change(set)
		}
		if err != nil {
			return err
		}
		err = r.write(ctx, userID, set, record)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, core.ErrConflict):
			return fmt.Errorf("password: store recovery codes: %w", err)
		case n == maxCodeWrites:
			return busyProblem(errBusy)
		}
		if err := store.Pause(ctx, min(time.Duration(n), 10)*time.Millisecond); err != nil {
			return fmt.Errorf("password: store recovery codes: %w", err)
		}
	}
}

// replace creates new codes for a user and returns them in the form for users. The old ones are void.
func (r *recoveryCodes) replace(ctx context.Context, userID string) ([]string, error) {
	shown, set, err := r.make()
	if err != nil {
		return nil, err
	}
	return shown, r.change(ctx, userID, func(*recoverySet) (*recoverySet, error) { return set, nil })
}

// remove deletes the codes of a user. It is no error if there are none.
func (r *recoveryCodes) remove(ctx context.Context, userID string) error {
	_, err := r.records.DeleteRecord(ctx, kindRecovery, userID)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return fmt.Errorf("password: delete recovery codes: %w", err)
	}
	return nil
}

// removeAudited deletes the codes of a user, and reports that to Config.Audit.
func (r *recoveryCodes) removeAudited(ctx context.Context, c *core.ActionRequest, userID string) error {
	e := audit.Event{Name: audit.RecoveryRemoved, Outcome: audit.OK, UserID: userID, Provider: ID}
	if err := c.Announce(ctx, e); err != nil {
		return err
	}
	if err := r.remove(ctx, userID); err != nil {
		return err
	}
	c.Audit(ctx, e)
	return nil
}

// errCodeUsed means that another request has used a code, or that new codes were created.
var errCodeUsed = errors.New("password: the recovery code was used")

// match returns the number of a typed code in a set, which is nil if the user is unknown or has no codes. It is -1 if
// the code is wrong. It computes one hash in any case, so that its time does not reveal users.
func (r *recoveryCodes) match(set *recoverySet, typed string) (int, error) {
	code := recoverycode.Clean(typed)
	number := recoverycode.Number(code)
	if number < 0 {
		code = ""
	}
	hash := recoverycode.Hash{Rounds: recoverycode.Rounds, Salt: make([]byte, 16)}
	if set != nil {
		hash = set.Salted
		hash.Hash = set.Codes[number]
	}
	sum, err := hash.Compute(code)
	if err != nil {
		return -1, fmt.Errorf("password: compare a recovery code: %w", err)
	}
	if !hash.Matches(sum) {
		return -1, nil
	}
	return number, nil
}

// use removes the code of a set. Of concurrent requests with one code, one succeeds; the others get errCodeUsed. It
// returns the number of remaining codes.
func (r *recoveryCodes) use(ctx context.Context, userID string, set *recoverySet, number int) (left int, err error) {
	err = r.change(ctx, userID, func(now *recoverySet) (*recoverySet, error) {
		if now == nil || now.Codes[number] == nil || !now.same(set) {
			return nil, errCodeUsed
		}
		delete(now.Codes, number)
		left = len(now.Codes)
		return now, nil
	})
	return left, err
}

// restore writes a used code back after a failure, unless the codes were replaced or removed.
func (r *recoveryCodes) restore(ctx context.Context, userID string, set *recoverySet, number int) {
	err := r.change(context.WithoutCancel(ctx), userID, func(now *recoverySet) (*recoverySet, error) {
		if now == nil || !now.same(set) {
			return nil, errCodeUsed
		}
		now.Codes[number] = set.Codes[number]
		return now, nil
	})
	if err != nil && !errors.Is(err, errCodeUsed) {
		r.host.Logger.WarnContext(ctx, "password: could not restore a recovery code after a failure", "user", userID,
			"error", err)
	}
}
