package password

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// of returns the problem of a field, which is shown below it.
func (v filled) of(field string) string {
	if v.field == field {
		return v.problem
	}
	return ""
}

// formProblem returns the problem of the form as a whole.
func (v filled) formProblem() string { return v.of("") }

// first reports whether a field gets the focus: it is the field with the problem, or no field has one.
func (v filled) first(field string) bool { return v.field == field || v.field == "" }

// form is a form with the submitted values, in case it is shown again.
type form struct {
	title ui.Text
	show  func(page ui.Page, v filled) templ.Component
	filled
}

// filled contains the values of a form. It contains no passwords.
type filled struct {
	locale                             ui.Locale
	csrf, email, name, token, callback string
	link                               string // of a reset
	username                           string // of a sign-up
	usernames, alone                   bool   // the sign-up form has a username; the address is optional
	recover                            string // URL of the page for a recovery code, or ""
	// fields are those of Options.SignUpFields, with their submitted values.
	fields []ui.Field
	values map[string]string
	// asks reports whether the form asks for the password of the sign-up.
	asks bool
	// ends reports whether a reset ends all sessions.
	ends bool
	// methods are the recently added sign-in methods.
	methods []core.SignInMethod
	// challenge is the action of the form's challenge. It is empty if the form has none.
	challenge string
	// min is the minimum length of a new password, in characters.
	min int
	// problem is the error message, and field the name of its field, or "" for the form as a whole.
	problem, field string
}

// pages renders forms.
type pages struct{ min int }

// show responds with a form.
func (p *pages) show(ctx context.Context, c *core.ActionRequest, status int, f form) (*core.Response, error) {
	page := c.Page(c.Locale.Say(f.title))
	if f.challenge != "" {
		page.Challenge = c.ChallengeWidget(f.challenge)
	}
	f.csrf, f.min, f.locale = c.CSRFToken, p.min, page.Locale
	return c.Render(ctx, status, page, f.show(page, f.filled)), nil
}

// showAgain responds to an invalid form: with a problem document, or with the form and the submitted values.
func (p *pages) showAgain(ctx context.Context, c *core.ActionRequest, f form, err error) (*core.Response, error) {
	var told *core.Problem
	err = busyProblem(err)
	if c.WantsJSON || !errors.As(err, &told) || told.Text.Key == "" && told.Detail == "" ||
		told.Status >= http.StatusInternalServerError {
		return nil, err
	}
	f.problem, f.field = c.Locale.Say(told.Text), cmp.Or(told.Field, fieldOf(told.Code))
	if told.Text.Key == "" {
		f.problem = told.Detail
	}
	return p.show(ctx, c, cmp.Or(told.Status, http.StatusBadRequest), f)
}

// next responds with the next step as JSON, or redirects to its page.
func next(
	ctx context.Context, c *core.ActionRequest, status int, what, action string, query ...string,
) (*core.Response, error) {
	if c.WantsJSON {
		return c.JSON(ctx, status, nextStep{Next: what}), nil
	}
	return c.Redirect(c.URL(action, query...)), nil
}

// problem returns an error response that the user can act on.
func problem(status int, code string, text ui.Text) *core.Problem {
	return &core.Problem{Status: status, Code: code, Detail: ui.Locale{}.Say(text), Text: text}
}

// The codes of problems with a form.
const (
	codeShort    = "password_short"
	codeLong     = "password_long"
	codeCommon   = "password_common"
	codeBreached = "password_breached"
	codeContext  = "password_context"
	codeWrong    = "password_wrong"
	codeChanged  = "password_changed"
	codeLink     = "link_invalid"
	codeClosed   = "signup_closed"
	codeEmail    = "email_invalid"
	codeName     = "name_invalid"
	codeBusy     = "busy"

	codePendingExpired = "pending_expired"
	codeNoAddress      = "no_address"
)

var (
	errLink      = problem(http.StatusBadRequest, codeLink, textLink)
	errOtherLink = problem(http.StatusConflict, codeLink, textOtherLink)
)

// fieldOf returns the name of the field that a problem is about.
func fieldOf(code string) string {
	switch code {
	case codeShort, codeLong, codeCommon, codeBreached, codeContext:
		return "newPassword"
	case codeWrong:
		return "password"
	case codeEmail:
		return "email"
	case codeName:
		return "name"
	case errRecovery.Code:
		return "code"
	case errUsername.Code, errUsernameTaken.Code, errUsernameCooldown.Code:
		return "username"
	}
	return ""
}

var (
	errUsername         = problem(http.StatusUnprocessableEntity, "username_invalid", textUsernameInvalid)
	errUsernameTaken    = problem(http.StatusConflict, "username_taken", textUsernameTaken)
	errUsernameCooldown = problem(http.StatusConflict, "username_too_soon", textUsernameSoon)

	errRecovery     = problem(http.StatusUnprocessableEntity, "recovery_wrong", textRecoverWrong)
	errNoUsername   = problem(http.StatusConflict, "username_missing", textUsernameMissing)
	errOnlyRecovery = problem(http.StatusConflict, codeNoAddress, textRecoveryOnly)
)

// busyProblem turns errBusy into a 503 response with Retry-After.
func busyProblem(err error) error {
	if !errors.Is(err, errBusy) {
		return err
	}
	return &core.Problem{
		Status: http.StatusServiceUnavailable, Code: codeBusy, RetryAfter: maxWait,
		Detail: textBusy.English, Text: textBusy, Cause: err,
	}
}
