package password

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// signUps handles sign-up requests and the email to the owner of the address. The account is created by confirmations.
type signUps struct {
	pages   *pages
	chosen  *newPasswords
	pending *signUpStore
	emails  *emails
	users   core.Store
	log     *slog.Logger
}

const (
	maxNameLength     = 256
	maxCallbackLength = 2048
)

func signUpForm(c *core.ActionRequest) form {
	return form{textSignUp, func(page ui.Page, v filled) templ.Component {
		return signUpPage(page, c.URL(ID+"/sign-up"), c.URL("signin"), v)
	}, filled{email: c.Field("email"), name: c.Field("name"), callback: c.Field("callbackUrl")}}
}

func (s *signUps) show(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	f := signUpForm(c)
	f.email, f.name = "", "" // a link must not prefill the form
	return s.pages.show(ctx, c, http.StatusOK, f)
}

// signUp handles POST password/sign-up (email, password, name, callbackUrl). The response is the same whether or not
// the address belongs to a user. Everything that depends on it happens after the response.
func (s *signUps) signUp(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	f := signUpForm(c)
	address, ok := isMail(c.Field("email"))
	if !ok {
		return s.pages.showAgain(ctx, c, f, problem(http.StatusUnprocessableEntity, codeEmail, textAddress))
	}
	name := strings.TrimSpace(c.Field("name"))
	if !isName(name) {
		return s.pages.showAgain(ctx, c, f, problem(http.StatusUnprocessableEntity, codeName, textBadName))
	}
	if err := c.Allow(ctx, limit.AttemptMail, address); err != nil {
		return nil, err
	}
	hash, err := s.chosen.take(ctx, c, c.Field("password"), address)
	if err != nil {
		return s.pages.showAgain(ctx, c, f, err)
	}
	p := pendingSignUp{Email: address, Name: name, Hash: hash}
	if typed := strings.Trim(c.Field("email"), " \t"); typed != address {
		p.Typed = typed
	}
	if back := c.CallbackURL; len(back) <= maxCallbackLength {
		p.Callback = back
	}
	token, record, err := s.pending.enter(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := rememberSignUp(c, record.Key); err != nil {
		s.log.WarnContext(ctx, "password: could not store the sign-up in the browser's cookie", "error", err)
	}
	verify := s.emails.write(c, core.EmailVerify, address)
	verify.URL, verify.Expires = core.Secret(c.URL(ID+"/confirm", "token", token)), record.Expires
	exists := s.emails.write(c, core.EmailExists, address)
	exists.URL = core.Secret(c.URL("signin"))
	dropped := false
	err = s.emails.later(ctx, c, core.BackgroundEmail{
		Email: core.Email{Kind: core.EmailVerify}, Subject: address,
		Write: func(ctx context.Context) (core.Email, error) {
			email, err := s.answer(ctx, record, p.typed(), verify, exists)
			dropped = err == nil && email.Kind != core.EmailVerify
			return email, err
		},
		Undo: func(ctx context.Context) {
			if !dropped {
				s.pending.drop(ctx, record)
			}
		},
	})
	if err != nil {
		return s.pages.showAgain(ctx, c, f, err)
	}
	c.Audit(ctx, audit.Event{Name: audit.SignUp, Outcome: audit.OK, Subject: address})
	return next(ctx, c, http.StatusAccepted, "mail", ID+"/sent")
}

// isName reports whether a text can be a user's name: valid UTF-8, short and without control characters.
func isName(name string) bool {
	return len(name) <= maxNameLength && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// answer returns the email to the owner of the address. It runs after the response. If the email has no recipient, none
// is sent.
func (s *signUps) answer(
	ctx context.Context, record *store.Record, typed string, verify, exists core.Email,
) (core.Email, error) {
	user, err := userByEmail(ctx, s.users, typed)
	if err != nil {
		return core.Email{}, err
	}
	if user != nil {
		s.pending.drop(ctx, record)
		return exists, nil
	}
	switch admitted, err := s.pending.admits(ctx, verify.To); {
	case err != nil:
		return core.Email{}, err
	case !admitted:
		s.pending.drop(ctx, record)
		return core.Email{}, nil
	}
	return verify, nil
}
