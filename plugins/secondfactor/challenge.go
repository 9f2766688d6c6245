package secondfactor

import (
	"context"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/ui"
)

// The methods of a challenge.
const (
	methodApp      = "otp"
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
}

func (v *challengeView) has(method string) bool {
	for _, m := range v.methods {
		if m == method {
			return true
		}
	}
	return false
}

// methods returns the methods that a user can answer a challenge with.
func (s *handlers) methods(ctx context.Context, userID string, st *state) ([]string, error) {
	methods := []string{}
	if len(st.Apps) > 0 {
		methods = append(methods, methodApp)
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
	methods, err := s.methods(ctx, p.User.ID, st)
	if err != nil {
		return nil, err
	}
	required := "factor"
	if !st.enrolled() {
		required = "enroll"
	}
	switch {
	case c.WantsJSON:
		return c.JSON(ctx, http.StatusOK, struct {
			Methods  []string `json:"methods"`
			Required string   `json:"required"`
		}{methods, required}), nil
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
		cancel: c.URL("signin"), method: c.Field("method"),
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
		return nil, &core.Problem{Status: http.StatusForbidden, Code: codeEnrollRequired, Text: textEnrollRequired}
	case !st.enrolled():
		return c.Redirect(c.URL(name+"/enroll", "signin", "1")), nil
	}
	methods, err := s.checkCode(ctx, c, p.User.ID, signInID(p, nil))
	if refused, ok := refusal(err); ok {
		if c.WantsJSON {
			return nil, refused.document()
		}
		has, err := s.methods(ctx, p.User.ID, st)
		if err != nil {
			return nil, err
		}
		return s.challenge(ctx, c, refused.status, has, refused.text), nil
	}
	if err != nil {
		return nil, err
	}
	return c.CompleteSignIn(ctx, p, methods...)
}

// checkCode checks the field code, which is a code of an app or a recovery code. It returns the methods that the user
// has authenticated with.
func (s *handlers) checkCode(ctx context.Context, c *core.ActionRequest, userID, signIn string) ([]core.Method, error) {
	typed := strings.TrimSpace(c.Field("code"))
	t := try{Budget: budgetApp, SignIn: signIn}
	var err error
	recovery, ok := isRecovery(typed)
	if ok {
		t.Budget = budgetRecovery
		_, err = s.recovery.check(ctx, userID, recovery, t)
	} else {
		_, err = s.states.checkApp(ctx, userID, strings.ReplaceAll(typed, " ", ""), t)
	}
	if err != nil {
		tellRefused(ctx, c, userID, err)
		return nil, err
	}
	c.ResetAttempts(ctx, limit.AttemptCode, "")
	methods := []core.Method{core.MethodOTP, core.MethodMultiple}
	c.Audit(ctx, audit.Event{
		Name: audit.FactorChecked, Outcome: audit.OK, UserID: userID, Methods: audit.Texts(methods),
	})
	return methods, nil
}

// showVerify handles GET second-factor/verify: it asks a signed-in user for the second factor.
func (s *handlers) showVerify(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	return s.verifyPage(ctx, c, http.StatusOK, ui.Text{})
}

func (s *handlers) verifyPage(
	ctx context.Context, c *core.ActionRequest, status int, problem ui.Text,
) (*core.Response, error) {
	session, err := signedIn(ctx, c)
	if err != nil {
		return nil, err
	}
	st, err := s.states.load(ctx, session.UserID)
	if err != nil {
		return nil, err
	}
	methods, err := s.methods(ctx, session.UserID, st)
	switch {
	case err != nil:
		return nil, err
	case c.WantsJSON:
		return c.JSON(ctx, http.StatusOK, struct {
			Methods []string `json:"methods"`
		}{methods}), nil
	case !st.enrolled():
		return c.Redirect(c.URL(name + "/settings")), nil
	}
	page := c.Page("")
	v := &challengeView{
		csrf: c.CSRFToken, methods: methods, problem: problem, action: c.URL(name + "/verify"), cancel: c.Home,
		page: c.URL(name+"/verify", "callbackUrl", c.CallbackURL), callback: c.CallbackURL, method: c.Field("method"),
	}
	if !v.has(v.method) && v.method != methodLost && len(methods) > 0 {
		v.method = methods[0]
	}
	return c.Render(ctx, status, page, challengePage(page, v)), nil
}

// verify handles POST second-factor/verify (code, callbackUrl): the session of a signed-in user gets the second
// factor.
func (s *handlers) verify(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := signedIn(ctx, c)
	if err != nil {
		return nil, err
	}
	methods, err := s.checkCode(ctx, c, session.UserID, signInID(nil, session))
	if refused, ok := refusal(err); ok {
		if c.WantsJSON {
			return nil, refused.document()
		}
		return s.verifyPage(ctx, c, refused.status, refused.text)
	}
	if err == nil {
		err = c.RenewSession(ctx, methods...)
	}
	if err != nil {
		return nil, err
	}
	return c.Redirect(c.CallbackURL), nil
}
