package password

import (
	"context"
	"net/http"
	"net/url"

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
	// min is the least number of characters of a new password.
	min int
	// problem is what is wrong, and field the name of the field that it is about; empty: the form.
	problem, field string
}

func (s *service) signUpForm(c *core.Call) form {
	return form{textSignUp, func(page ui.Page, v filled) templ.Component {
		return signUpPage(page, c.URL(ID+"/sign-up"), c.URL("signin"), v)
	}, filled{email: c.Field("email"), name: c.Field("name"), callback: c.Field("callbackUrl")}}
}

func (s *service) confirmForm(c *core.Call) form {
	token := c.Field("token")
	return form{textConfirm, func(page ui.Page, v filled) templ.Component {
		return confirmPage(page, c.URL(ID+"/confirm"), v)
	}, filled{token: token, asks: !s.began(c, token)}}
}

func (s *service) forgotForm(c *core.Call) form {
	return form{textForgot, func(page ui.Page, v filled) templ.Component {
		return forgotPage(page, c.URL(ID+"/forgot"), c.URL("signin"), v)
	}, filled{email: c.Field("email")}}
}

// resetForm holds the digest of the link that it is for, which is worth nothing without the cookie.
func (s *service) resetForm(c *core.Call) form {
	var link chosen
	c.Kept(resetCookie, &link)
	return form{textReset, func(page ui.Page, v filled) templ.Component {
		return resetPage(page, c.URL(ID+"/reset"), v)
	}, filled{link: link.Digest}}
}

func (s *service) changeForm(c *core.Call, address string) form {
	return form{textChange, func(page ui.Page, v filled) templ.Component {
		return changePage(page, c.URL(ID+"/change"), c.URL(ID+"/forgot"), v)
	}, filled{email: address}}
}

func (s *service) showSignUp(ctx context.Context, c *core.Call) (*core.Response, error) {
	f := s.signUpForm(c)
	f.email, f.name = "", "" // no link fills in what a visitor seems to have typed
	return s.page(ctx, c, http.StatusOK, f)
}

// showConfirm answers GET password/confirm, to which the letter leads. It asks the store nothing and uses nothing up:
// scanners of mails open links too. A program is told whether it has to send the password along.
func (s *service) showConfirm(ctx context.Context, c *core.Call) (*core.Response, error) {
	f := s.confirmForm(c)
	if f.token == "" || len(f.token) > longestToken {
		return nil, errLink
	}
	if c.WantsJSON {
		return c.Answer(ctx, http.StatusOK, map[string]bool{"password": f.asks}), nil
	}
	return s.page(ctx, c, http.StatusOK, f)
}

func (s *service) showForgot(ctx context.Context, c *core.Call) (*core.Response, error) {
	f := s.forgotForm(c)
	f.email = ""
	return s.page(ctx, c, http.StatusOK, f)
}

func (s *service) showChange(ctx context.Context, c *core.Call) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err != nil || session == nil || session.User == nil {
		return nil, err
	}
	return s.page(ctx, c, http.StatusOK, s.changeForm(c, session.User.Email))
}

func (s *service) showSent(ctx context.Context, c *core.Call) (*core.Response, error) {
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, sentPage(page, c.Home, c.Host())), nil
}

// showDone leads on: somebody who is signed in to the site, anybody else to the sign-in page.
func (s *service) showDone(ctx context.Context, c *core.Call) (*core.Response, error) {
	page := c.Page("")
	action, label := c.URL("signin"), textDoneSignIn
	if session, err := c.Session(ctx); err == nil && session != nil {
		action, label = c.Home, textDoneGoOn
	}
	return c.Render(ctx, http.StatusOK, page, donePage(page, action, page.Locale.Say(label))), nil
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
