package secondfactor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/recoverycode"
	"github.com/latchkey-go/latchkey/ui"
)

// The methods of a challenge.
const (
	methodApp      = "otp"
	methodPasskey  = "passkey"
	methodRecovery = "recovery"
	methodLost     = "lost"
)

// challengeView is the data of the page that asks for a second factor.
type challengeView struct {
	csrf    string
	method  string   // the method that the page asks for
	methods []string // the methods that the user has
	// action is the URL of the form, page that of the page itself, and cancel that of the link "Cancel".
	action, page, cancel string
	callback             string
	problem              ui.Text
	// options is the URL of the options of a passkey. days is the number of days that the user can trust the
	// browser, or 0.
	options string
	days    int
	lost    ui.Text // for users who have no recovery code
	support string  // Options.Support
}

func (v *challengeView) has(method string) bool { return slices.Contains(v.methods, method) }

// methods returns the methods that a user can answer a challenge with. first are those of the sign-in or the session.
func (s *handlers) methods(ctx context.Context, userID string, st *state, first []amr.Method) ([]string, error) {
	methods := []string{}
	if len(st.Apps) > 0 {
		methods = append(methods, methodApp)
	}
	if st.enrolled() && !onlyKey(first) {
		has, err := s.host.HasPasskeys(ctx, userID)
		if err != nil {
			return nil, err
		}
		if has {
			methods = append(methods, methodPasskey)
		}
	}
	left, err := s.recovery.left(ctx, userID, st)
	if err != nil {
		return nil, err
	}
	if left > 0 {
		methods = append(methods, methodRecovery)
	}
	return methods, nil
}

// onlyKey reports whether a user has signed in with a passkey that did not verify the user, and with nothing else. That
// passkey, or another one on the same device, is not the second factor too.
func onlyKey(methods []amr.Method) bool {
	return len(methods) > 0 && !slices.ContainsFunc(methods, func(m amr.Method) bool {
		return m != amr.HardwareKey && m != amr.SoftwareKey
	})
}

// show handles GET second-factor: the challenge of a pending sign-in.
func (s *handlers) show(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	p, err := c.PendingSignIn(ctx)
	if err != nil {
		return nil, err
	}
	if p == nil {
		session, err := c.Session(ctx)
		if err == nil && session != nil && !c.WantsJSON {
			return c.Redirect(c.URL(name + "/settings")), nil
		}
		if err == nil {
			err = expired()
		}
		return nil, err
	}
	st, err := s.states.load(ctx, p.User.ID)
	if err != nil {
		return nil, err
	}
	methods, err := s.methods(ctx, p.User.ID, st, p.Methods)
	if err != nil {
		return nil, err
	}
	required := "factor"
	_, later := s.postponable(st)
	if !st.enrolled() {
		required = "enroll"
	}
	switch {
	case c.WantsJSON:
		return c.JSON(ctx, http.StatusOK, pendingMethods{methods, required, later}), nil
	case !st.enrolled():
		return c.Redirect(c.URL(name+"/enroll", "signin", "1")), nil
	}
	return s.challenge(ctx, c, http.StatusOK, methods, ui.Text{}), nil
}

// challenge renders the page that asks for a second factor.
func (s *handlers) challenge(
	ctx context.Context, c *core.ActionRequest, status int, methods []string, problem ui.Text,
) *core.Response {
	page := c.Page("")
	v := &challengeView{
		csrf: c.CSRFToken, methods: methods, problem: problem, action: c.URL(name), page: c.URL(name),
		cancel: c.URL("signin"), method: c.Field("method"), options: c.URL(name + "/passkey"),
		days: max(0, int(s.options.Remember.Hours()/24)), lost: s.support(), support: s.options.Support,
	}
	if v.method != methodLost && !v.has(v.method) {
		v.method = methodLost
		if len(methods) > 0 {
			v.method = methods[0]
		}
	}
	return c.Render(ctx, status, page, challengePage(page, v))
}

// check handles POST second-factor (code): it completes a pending sign-in.
func (s *handlers) check(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	p, err := c.PendingSignIn(ctx)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return nil, expired()
	}
	st, err := s.states.load(ctx, p.User.ID)
	switch {
	case err != nil:
		return nil, err
	case !st.enrolled() && c.WantsJSON:
		return nil, enrollRequired()
	case !st.enrolled():
		return c.Redirect(c.URL(name+"/enroll", "signin", "1")), nil
	}
	proof, err := s.checkFactor(ctx, c, p.User.ID, p.Methods, signInID(p, nil))
	if refused, ok := refusal(err); ok {
		if c.WantsJSON {
			return nil, refused.document()
		}
		has, err := s.methods(ctx, p.User.ID, st, p.Methods)
		if err != nil {
			return nil, err
		}
		return s.challenge(ctx, c, refused.status, has, refused.text), nil
	}
	if err != nil {
		return nil, err
	}
	s.browsers.accepted(ctx, c, p.User.ID, st, isSet(c, "remember"))
	response, err := c.CompleteSignIn(ctx, p, proof.methods...)
	s.recovery.restore(ctx, proof.code, err)
	if err == nil && proof.recovery && response.Redirect == p.CallbackURL {
		s.warn(ctx, c, p, response)
	}
	return response, err
}

// warn sends a browser to the settings page first, if the user has few recovery codes left.
func (s *handlers) warn(ctx context.Context, c *core.ActionRequest, p *core.PendingSignIn, response *core.Response) {
	st, err := s.states.load(ctx, p.User.ID)
	left := recoverycode.Count
	if err == nil {
		left, err = s.recovery.left(ctx, p.User.ID, st)
	}
	if err == nil && left <= recoverycode.Low {
		err = c.SetEncryptedCookie(flashCookie, flash{Next: p.CallbackURL}, time.Minute)
		if err == nil {
			response.Redirect = c.URL(name + "/settings")
		}
	}
	if err != nil {
		s.host.Logger.WarnContext(ctx, "secondfactor: could not warn about recovery codes", "error", err)
	}
}

// isSet reports whether a form field is not empty or a member of the JSON body is true.
func isSet(c *core.ActionRequest, field string) bool {
	var set bool
	return c.Field(field) != "" || c.JSONMember(field, &set) && set
}

// proof is an accepted second factor.
type proof struct {
	methods  []amr.Method
	recovery bool
	code     *store.Record // of a recovery code that was used up
}

// checkFactor checks the second factor of a request: the fields action and data of a passkey, or the field code with a
// code of an app or a recovery code. first are the methods of the sign-in or the session.
func (s *handlers) checkFactor(
	ctx context.Context, c *core.ActionRequest, userID string, first []amr.Method, signIn string,
) (proof, error) {
	typed := strings.TrimSpace(c.Field("code"))
	p := proof{methods: []amr.Method{amr.OTP, amr.Multiple}}
	t := try{Budget: budgetApp, SignIn: signIn}
	if s.browsers.known(c, userID) {
		t.Budget = budgetKnown
	}
	var err error
	notice := false
	code, isRecovery := isRecovery(typed)
	switch {
	case c.Field("data") != "" && onlyKey(first):
		err = errPasskey
	case c.Field("data") != "":
		p.methods, err = s.checkPasskey(ctx, c, userID)
	case isRecovery:
		t.Budget, p.recovery = budgetRecovery, true
		// The notice is stored before the code is used up. If it cannot be stored, the code remains valid.
		p.code, notice, err = s.recovery.check(ctx, userID, code, t, func(use func(context.Context) error) error {
			return c.NotifyChange(ctx, core.SecurityNotice{
				Kind: mailkind.RecoveryUsed, UserID: userID, Audit: audit.Event{Name: audit.RecoveryUsed},
			}, use)
		})
	default:
		notice, err = s.states.checkApp(ctx, userID, strings.ReplaceAll(typed, " ", ""), t)
	}
	// The sender of the codes knows the password. The wrong code was counted before: without the notice it must count
	// too.
	if notice {
		c.NotifySecurity(ctx, core.SecurityNotice{Kind: mailkind.FactorGuessed, UserID: userID})
	}
	if err != nil {
		tellRefused(ctx, c, userID, err)
		return proof{}, err
	}
	c.ResetAttempts(ctx, limit.AttemptCode, "")
	c.Audit(ctx, audit.Event{
		Name: audit.FactorChecked, Outcome: audit.OK, UserID: userID, Methods: audit.Texts(p.methods),
	})
	return p, nil
}

// errPasskey means that a passkey was not accepted.
var errPasskey = errors.New("secondfactor: the passkey was not accepted")

// checkPasskey checks the response of a passkey. Its signature cannot be guessed, so that it needs no budget: an
// attacker who uses up the budgets for codes cannot lock out an owner who has a passkey.
func (s *handlers) checkPasskey(ctx context.Context, c *core.ActionRequest, userID string) ([]amr.Method, error) {
	st, err := s.states.load(ctx, userID)
	switch {
	case err != nil:
		return nil, err
	case !st.enrolled():
		return nil, errPasskey
	}
	methods, err := c.VerifyPasskey(ctx, userID)
	switch {
	case errors.Is(err, core.ErrStoreUnavailable):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errPasskey, err)
	}
	return append(methods, amr.Multiple), nil
}

// showVerify handles GET second-factor/verify: it asks a signed-in user for the second factor.
func (s *handlers) showVerify(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	return s.verifyPage(ctx, c, http.StatusOK, ui.Text{})
}

func (s *handlers) verifyPage(
	ctx context.Context, c *core.ActionRequest, status int, problem ui.Text,
) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	st, err := s.states.load(ctx, session.UserID)
	if err != nil {
		return nil, err
	}
	methods, err := s.methods(ctx, session.UserID, st, session.Methods)
	switch {
	case err != nil:
		return nil, err
	case c.WantsJSON:
		return c.JSON(ctx, http.StatusOK, sessionMethods{methods}), nil
	case !st.enrolled():
		return c.Redirect(c.URL(name + "/settings")), nil
	}
	page := c.Page("")
	v := &challengeView{
		csrf: c.CSRFToken, methods: methods, problem: problem, action: c.URL(name + "/verify"), cancel: c.Home,
		page: c.URL(name+"/verify", "callbackUrl", c.CallbackURL), callback: c.CallbackURL, method: c.Field("method"),
		options: c.URL(name+"/passkey", "session", "1"), lost: s.support(), support: s.options.Support,
	}
	if !v.has(v.method) && v.method != methodLost && len(methods) > 0 {
		v.method = methods[0]
	}
	return c.Render(ctx, status, page, challengePage(page, v)), nil
}

// verify handles POST second-factor/verify (code, callbackUrl): the session of a signed-in user gets the second
// factor.
func (s *handlers) verify(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	proof, err := s.checkFactor(ctx, c, session.UserID, session.Methods, signInID(nil, session))
	if refused, ok := refusal(err); ok {
		if c.WantsJSON {
			return nil, refused.document()
		}
		return s.verifyPage(ctx, c, refused.status, refused.text)
	}
	if err == nil {
		err = c.RenewSession(ctx, proof.methods...)
		s.recovery.restore(ctx, proof.code, err)
	}
	if err != nil {
		return nil, err
	}
	return c.Redirect(c.CallbackURL), nil
}
