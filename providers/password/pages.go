package password

import (
	"context"
	"errors"
	"net/http"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// of is what is wrong with a field, shown beneath it.
func (v filled) of(field string) string {
	if v.field == field {
		return v.problem
	}
	return ""
}

// formProblem is what is wrong with no field of its own.
func (v filled) formProblem() string { return v.of("") }

// first reports whether the cursor stands in the first field: there, or nowhere else, something is wrong.
func (v filled) first(field string) bool { return v.field == field || v.field == "" }

// form is one of the forms, with what was typed into it, for the case that it has to be shown again.
type form struct {
	title ui.Text
	show  func(page ui.Page, v filled) templ.Component
	filled
}

// filled is what a form has in it when it is shown: no passwords.
type filled struct {
	locale                             ui.Locale
	csrf, email, name, token, callback string
	link                               string // that a new password is for
	// asks is true where the password of the sign-up is asked for.
	asks bool
	// ends reports whether a reset ends all sessions.
	ends bool
	// methods are the sign-in methods that were added lately.
	methods []core.SignInMethod
	// min is the least number of characters of a new password.
	min int
	// problem is what is wrong, and field the name of the field that it is about; empty: the form.
	problem, field string
}

// pages show forms.
type pages struct{ min int }

// show answers with a form.
func (p *pages) show(ctx context.Context, c *core.Call, status int, f form) (*core.Response, error) {
	page := c.Page(c.Locale.Say(f.title))
	f.csrf, f.min, f.locale = c.CSRFToken, p.min, page.Locale
	return c.Render(ctx, status, page, f.show(page, f.filled)), nil
}

// again tells a visitor what to mend: a program by a problem document, a person by the form with what they typed.
func (p *pages) again(ctx context.Context, c *core.Call, f form, err error) (*core.Response, error) {
	var told *core.Problem
	err = explained(err)
	if c.WantsJSON || !errors.As(err, &told) || told.Text.Key == "" || told.Status >= http.StatusInternalServerError {
		return nil, err
	}
	f.problem, f.field = c.Locale.Say(told.Text), fieldOf(told.Code)
	return p.show(ctx, c, told.Status, f)
}

// next tells a program what comes, and sends a person to the page that says it.
func next(ctx context.Context, c *core.Call, status int, what, action string) (*core.Response, error) {
	if c.WantsJSON {
		return c.Answer(ctx, status, map[string]string{"next": what}), nil
	}
	return c.Redirect(c.URL(action)), nil
}

// showSent answers GET password/sent.
func showSent(ctx context.Context, c *core.Call) (*core.Response, error) {
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, sentPage(page, c.Home, c.Host())), nil
}

// showDone handles GET password/done. Its page links to the site if the user is signed in, and to the sign-in page
// otherwise.
func (s *resets) showDone(ctx context.Context, c *core.Call) (*core.Response, error) {
	page := c.Page("")
	v := doneView{action: c.URL("signin"), label: textDoneSignIn, text: textDoneOnly}
	if session, err := c.Session(ctx); err == nil && session != nil {
		v.action, v.label = c.Home, textDoneGoOn
	}
	if s.host.CanEndSessions() {
		v.text = textDoneBody
	}
	if c.Kept(removedCookie, &v.removed) {
		c.Drop(removedCookie)
	}
	return c.Render(ctx, http.StatusOK, page, donePage(page, v)), nil
}

// doneView is the page after a password was set.
type doneView struct {
	action      string
	label, text ui.Text
	removed     []string // names of sign-in methods
}
