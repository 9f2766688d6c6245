package password

import (
	"context"
	"net/http"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// forgotten is how somebody asks for a link to choose a new password. What the link does is the story of resets.
type forgotten struct {
	pages   *pages
	links   *resetLinks
	letters *letters
	users   core.Store
}

func forgotForm(c *core.Call) form {
	return form{textForgot, func(page ui.Page, v filled) templ.Component {
		return forgotPage(page, c.URL(ID+"/forgot"), c.URL("signin"), v)
	}, filled{email: c.Field("email")}}
}

// show answers GET password/forgot.
func (s *forgotten) show(ctx context.Context, c *core.Call) (*core.Response, error) {
	f := forgotForm(c)
	f.email = ""
	return s.pages.show(ctx, c, http.StatusOK, f)
}

// ask answers POST password/forgot (email). Whether somebody is known is looked up after the answer.
func (s *forgotten) ask(ctx context.Context, c *core.Call) (*core.Response, error) {
	typed := c.Field("email")
	address, ok := isMail(typed)
	if !ok {
		return s.pages.again(ctx, c, forgotForm(c), problem(http.StatusUnprocessableEntity, codeEmail, textAddress))
	}
	if err := c.Allow(ctx, core.AttemptMail, address); err != nil {
		return nil, err
	}
	token, err := s.links.newToken()
	if err != nil {
		return nil, err
	}
	l := s.letters.write(c, core.LetterReset, address)
	l.URL = core.Secret(c.URL(ID+"/reset", "token", token))
	link := &resetEmail{resetLinks: s.links, token: token, letter: l}
	err = s.letters.later(ctx, c, core.BackgroundEmail{
		Letter: core.Letter{Kind: core.LetterReset}, Subject: address, Undo: link.undo,
		Write: func(ctx context.Context) (core.Letter, error) {
			user, err := userByEmail(ctx, s.users, typed)
			if err != nil || user == nil {
				return core.Letter{}, err
			}
			return link.write(ctx, user)
		},
	})
	if err != nil {
		return s.pages.again(ctx, c, forgotForm(c), err)
	}
	c.Audit(ctx, core.AuditEvent{Name: core.AuditPasswordResetAsked, Outcome: core.OutcomeOK, Subject: address})
	return next(ctx, c, http.StatusAccepted, "mail", ID+"/sent")
}
