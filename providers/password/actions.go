package password

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// actions are those of the provider. Every GET shows a form and changes nothing.
func (s *service) actions() []core.Action {
	all := []core.Action{
		{Method: http.MethodGet, Name: ID, Verb: "sent", Handle: s.showSent},
		{Method: http.MethodGet, Name: ID, Verb: "forgot", Handle: s.showForgot},
		{Method: http.MethodPost, Name: ID, Verb: "forgot", Handle: s.forgot},
		{Method: http.MethodGet, Name: ID, Verb: "reset", Handle: s.showReset},
		{Method: http.MethodPost, Name: ID, Verb: "reset", Handle: s.reset},
		{Method: http.MethodGet, Name: ID, Verb: "done", Handle: s.showDone},
		{Method: http.MethodGet, Name: ID, Verb: "change", Require: named, Handle: s.showChange},
		{Method: http.MethodPost, Name: ID, Verb: "change", Require: named, Handle: s.change},
	}
	if s.o.SignUp == Closed {
		closed := func(context.Context, *core.Call) (*core.Response, error) {
			return nil, problem(http.StatusForbidden, codeClosed, textClosed)
		}
		return append(all, core.Action{Method: http.MethodPost, Name: ID, Verb: "sign-up", Handle: closed})
	}
	return append(all,
		core.Action{Method: http.MethodGet, Name: ID, Verb: "sign-up", Handle: s.showSignUp},
		core.Action{Method: http.MethodPost, Name: ID, Verb: "sign-up", Attempt: core.AttemptSignUp, Handle: s.signUp},
		core.Action{Method: http.MethodGet, Name: ID, Verb: "confirm", Handle: s.showConfirm},
		core.Action{Method: http.MethodPost, Name: ID, Verb: "confirm", Handle: s.confirm},
	)
}

// named lets every visitor through whose session has an ID, since a change ends all sessions but that one. A session
// that began before they had IDs here, or that Auth.js began, has none: its visitor signs in once more.
var named = []core.Guard{func(ctx context.Context, session *core.Session) error {
	if session.ID == "" {
		return core.Fresh(15*time.Minute)(ctx, session)
	}
	return nil
}}

// longestToken bounds what is hashed of a link that somebody made up.
const longestToken = 128

// page answers with a form.
func (s *service) page(ctx context.Context, c *core.Call, status int, f form) (*core.Response, error) {
	page := c.Page(c.Locale.Say(f.title))
	f.csrf, f.min, f.locale = c.CSRFToken, s.o.MinLength, page.Locale
	return c.Render(ctx, status, page, f.show(page, f.filled)), nil
}

// again tells a visitor what to mend: a program by a problem document, a person by the form with what they typed.
func (s *service) again(ctx context.Context, c *core.Call, f form, err error) (*core.Response, error) {
	var p *core.Problem
	err = explained(err)
	if c.WantsJSON || !errors.As(err, &p) || p.Text.Key == "" || p.Status >= http.StatusInternalServerError {
		return nil, err
	}
	f.problem, f.field = c.Locale.Say(p.Text), fieldOf(p.Code)
	return s.page(ctx, c, p.Status, f)
}

// fieldOf is the field that a problem is about.
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
	}
	return ""
}

// next tells a program what comes, and sends a person to the page that says it.
func (s *service) next(ctx context.Context, c *core.Call, status int, what, action string) (*core.Response, error) {
	if c.WantsJSON {
		return c.Answer(ctx, status, map[string]string{"next": what}), nil
	}
	return c.Redirect(c.URL(action)), nil
}

// letter is a letter of this site, for a request.
func (s *service) letter(c *core.Call, kind core.LetterKind, to string) core.Letter {
	return core.Letter{To: to, Kind: kind, Host: c.Host(), Theme: s.h.Theme, Locale: c.Locale, Request: c.Request}
}

// send delivers a letter.
func (s *service) send(ctx context.Context, l core.Letter) error { return l.Deliver(ctx, s.o.Mail) }

// later has the outbox do what depends on whether somebody is known.
func (s *service) later(ctx context.Context, do func(ctx context.Context) error) error {
	return s.post.add(ctx, s.h.Logger, do)
}

// tellChanged has the owner of an address told that their password is another one.
func (s *service) tellChanged(ctx context.Context, c *core.Call, user *core.User) {
	if user.Email == "" {
		return
	}
	l := s.letter(c, core.LetterPasswordChanged, user.Email)
	l.URL, l.At = core.Secret(c.URL(ID+"/forgot")), s.h.Now()
	if err := s.later(ctx, func(ctx context.Context) error { return s.send(ctx, l) }); err != nil {
		s.h.Logger.ErrorContext(ctx, "password: nobody was told of a changed password", "user", user.ID, "error", err)
	}
}
