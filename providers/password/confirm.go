package password

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/ui"
)

// confirmations handles the link of a sign-up: it verifies the address, creates the user and signs them in.
type confirmations struct {
	provider    string
	pages       *pages
	pending     *signUpStore
	hashes      *hasher
	userCreator *userCreator
	log         *slog.Logger
}

// form returns the page of a link. w is its sign-up, or nil if it was not looked up.
func (s *confirmations) form(c *core.ActionRequest, w *storedSignUp) form {
	token := c.Field("token")
	f := filled{token: token, asks: !s.startedSignUp(c, token)}
	if w != nil {
		f.email = w.Email
	}
	return form{textConfirm, func(page ui.Page, v filled) templ.Component {
		return confirmPage(page, c.URL(ID+"/confirm"), c.URL(ID+"/sign-up"), v)
	}, f}
}

// startedSignUp reports whether this browser started the sign-up of a token.
func (s *confirmations) startedSignUp(c *core.ActionRequest, token string) bool {
	return startedSignUp(c, s.pending.links.keys(kindSignUp, token))
}

// show handles GET password/confirm, the link in the email. It does not use up the link, because mail scanners open
// links too. In a browser that did not start the sign-up, it shows the address, or an error if the link is no longer
// valid. A JSON response says whether the password is required.
func (s *confirmations) show(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	f := s.form(c, nil)
	if f.token == "" || len(f.token) > maxTokenLength {
		return nil, errLink
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, map[string]bool{"password": f.asks}), nil
	}
	if f.asks {
		w, err := s.pending.find(ctx, f.token)
		switch {
		case err != nil:
			return nil, err
		case w == nil:
			return nil, errLink
		}
		f = s.form(c, w)
	}
	return s.pages.show(ctx, c, http.StatusOK, f)
}

// confirm handles POST password/confirm (token; also password in a browser that did not start the sign-up). It calls
// Callbacks.SignIn, creates the user with a verified address, and signs them in through the sign-in gates.
func (s *confirmations) confirm(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	token := c.Field("token")
	w, err := s.pending.find(ctx, token)
	switch {
	case err != nil:
		return nil, err
	case w == nil:
		return nil, errLink
	}
	if !s.startedSignUp(c, token) {
		if err := s.checkPassword(ctx, c, w); err != nil {
			return s.pages.showAgain(ctx, c, s.form(c, w), err)
		}
	}
	if err := s.userCreator.check(ctx, w); err != nil {
		return nil, linkGone(err)
	}
	user := s.userCreator.of(w)
	return c.SignIn(ctx, core.SignIn{
		User: user, Methods: []core.Method{core.MethodPassword}, CallbackURL: w.Callback,
		Create: func(ctx context.Context) (*core.User, error) { return s.create(ctx, c, w, user) },
		Account: &core.Account{
			Type: core.TypeCredentials, Provider: s.provider, ProviderAccountID: user.ID, UserID: user.ID,
		},
	})
}

// create creates the user, after Callbacks.SignIn has allowed the sign-up.
func (s *confirmations) create(
	ctx context.Context, c *core.ActionRequest, w *storedSignUp, user *core.User,
) (*core.User, error) {
	user, err := s.userCreator.admit(ctx, w, user)
	if err != nil {
		return nil, linkGone(err)
	}
	if err := forgetSignUp(c, w.record.Key); err != nil {
		s.log.WarnContext(ctx, "password: could not remove the finished sign-up from the browser's cookie", "error", err)
	}
	c.Audit(ctx, audit.Event{
		Name: audit.PasswordSet, Outcome: audit.OK, UserID: user.ID, Provider: s.provider,
	})
	return user, nil
}

// linkGone returns errLink if the link was used or the address belongs to a user by now.
func linkGone(err error) error {
	if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
		return errLink
	}
	return err
}

// checkPassword checks the password of a sign-up. Attempts are counted for the sign-up, from any number of clients.
func (s *confirmations) checkPassword(ctx context.Context, c *core.ActionRequest, w *storedSignUp) error {
	password := c.Field("password")
	wrong := problem(http.StatusUnauthorized, codeWrong, textWrongSignUp)
	if password == "" || len(password) > maxPasswordBytes {
		return wrong
	}
	counted := kindSignUp + " " + w.record.Key
	if err := c.Allow(ctx, limit.AttemptCredentials, counted); err != nil {
		return err
	}
	ok, _, err := s.hashes.matches(c.WithClient(ctx, w.Email), password, &stored{secret: secret{Hash: w.Hash}})
	if err != nil {
		return err
	}
	if !ok {
		return wrong
	}
	c.ResetAttempts(ctx, limit.AttemptCredentials, counted)
	return nil
}
