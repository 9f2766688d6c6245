package password

import (
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
	// asks reports whether the form asks for the password of the sign-up.
	asks bool
	// ends reports whether a reset ends all sessions.
	ends bool
	// methods are the recently added sign-in methods.
	methods []core.SignInMethod
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
	f.csrf, f.min, f.locale = c.CSRFToken, p.min, page.Locale
	return c.Render(ctx, status, page, f.show(page, f.filled)), nil
}

// showAgain responds to an invalid form: with a problem document, or with the form and the submitted values.
func (p *pages) showAgain(ctx context.Context, c *core.ActionRequest, f form, err error) (*core.Response, error) {
	var told *core.Problem
	err = busyProblem(err)
	if c.WantsJSON || !errors.As(err, &told) || told.Text.Key == "" || told.Status >= http.StatusInternalServerError {
		return nil, err
	}
	f.problem, f.field = c.Locale.Say(told.Text), fieldOf(told.Code)
	return p.show(ctx, c, told.Status, f)
}

// next responds with the next step as JSON, or redirects to its page.
func next(
	ctx context.Context, c *core.ActionRequest, status int, what, action string, query ...string,
) (*core.Response, error) {
	if c.WantsJSON {
		return c.JSON(ctx, status, map[string]string{"next": what}), nil
	}
	return c.Redirect(c.URL(action, query...)), nil
}

// forReset is the query parameter "for" of password/sent after a password reset was requested.
const forReset = "reset"

// showSent handles GET password/sent. The query says whether the email resets a password or completes a sign-up.
func showSent(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	page, text := c.Page(""), textSentBody
	if c.Field("for") == forReset {
		text = textSentReset
	}
	return c.Render(ctx, http.StatusOK, page, sentPage(page, text, c.Home, c.Host())), nil
}

// showDone handles GET password/done. Its page links to the site if the user is signed in, and to the sign-in page
// otherwise.
func (s *resets) showDone(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	page := c.Page("")
	v := doneView{action: c.URL("signin"), label: textDoneSignIn, text: textDoneOnly}
	if session, err := c.Session(ctx); err == nil && session != nil {
		v.action, v.label = c.Home, textDoneGoOn
	}
	if s.host.CanEndSessions() {
		v.text = textDoneBody
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
