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

// confirmations handles the link and the code of a sign-up: they verify the address, create the user and sign them in.
type confirmations struct {
	provider string
	pages    *pages
	pending  *signUpStore
	hashes   *hasher
	created  *userCreator
	names    *usernames // nil without Options.Usernames
	code     bool       // Options.Code
	log      *slog.Logger
}

func (s *confirmations) actions() []core.Action {
	all := []core.Action{
		{Method: http.MethodGet, Verb: "confirm", Handle: s.show},
		{Method: http.MethodPost, Verb: "confirm", Handle: s.confirm},
	}
	if s.code {
		all = append(all, core.Action{Method: http.MethodPost, Verb: "confirm-code", Handle: s.confirmCode})
	}
	return all
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
		return c.JSON(ctx, http.StatusOK, passwordRequired{f.asks}), nil
	}
	if f.asks {
		w, err := s.pending.find(ctx, f.token)
		if err != nil {
			return nil, err
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
	if err != nil {
		return nil, err
	}
	if !s.startedSignUp(c, token) {
		if err := s.checkPassword(ctx, c, w); err != nil {
			return s.pages.showAgain(ctx, c, s.form(c, w), err)
		}
	}
	return s.signIn(ctx, c, w)
}

// confirmCode handles POST password/confirm-code (code): it completes the sign-up that this browser started.
func (s *confirmations) confirmCode(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	found, err := c.CheckCode(ctx, codeSignUp, c.Field("code"))
	var w *storedSignUp
	if err == nil {
		w, err = s.pending.first(ctx, []string{found.Data})
	}
	if err == nil && w == nil { // the link was used
		err = c.CodeExpired()
	}
	if err != nil {
		return refuseCode(ctx, c, err, audit.SignUp, ID+"/sent")
	}
	return s.signIn(ctx, c, w)
}

// signIn creates the user of a sign-up with a verified address, and signs them in.
func (s *confirmations) signIn(ctx context.Context, c *core.ActionRequest, w *storedSignUp) (*core.Response, error) {
	if err := s.created.check(ctx, w); err != nil {
		return nil, err
	}
	callback := w.Callback
	if s.names != nil && w.Username != "" {
		switch taken, err := s.names.taken(ctx, w.Username); {
		case err != nil:
			return nil, err
		case taken: // the address is verified, so the user may learn it
			callback = c.URL(ID+"/username", "error", queryTaken)
		}
	}
	user := &core.User{ID: core.NewID(), Email: w.Email, Name: w.Name, EmailVerified: s.created.now()}
	return s.created.signIn(ctx, c, &newUser{w, user, nil}, callback, func(ctx context.Context, user *core.User) {
		s.setName(ctx, c, w, user)
		if err := forgetSignUp(c, w.record.Key); err != nil {
			s.log.WarnContext(ctx, "password: could not remove the finished sign-up from the browser's cookie", "error", err)
		}
		c.Audit(ctx, audit.Event{Name: audit.PasswordSet, Outcome: audit.OK, UserID: user.ID, Provider: s.provider})
	})
}

// setName gives a new user the username of the sign-up. If another user has it, or the store fails, the user has none
// and can choose one later.
func (s *confirmations) setName(ctx context.Context, c *core.ActionRequest, w *storedSignUp, user *core.User) {
	if s.names == nil || w.Username == "" {
		return
	}
	switch _, err := s.names.set(ctx, user.ID, w.Username); {
	case err == nil:
		c.Audit(ctx, audit.Event{Name: audit.UsernameChanged, Outcome: audit.OK, UserID: user.ID, Provider: s.provider})
	case !errors.As(err, new(*core.Problem)):
		s.log.WarnContext(ctx, "password: could not store the username of a sign-up", "user", user.ID, "error", err)
	}
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
