package password

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"

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
	f := filled{token: token, asks: !s.pending.startedBy(c, token)}
	if w != nil {
		f.email = w.Email
	}
	return form{textConfirm, func(page ui.Page, v filled) templ.Component {
		return confirmPage(page, c.URL(ID+"/confirm"), c.URL(ID+"/sign-up"), v)
	}, f}
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
	if !s.pending.startedBy(c, token) {
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
	if err := s.check(ctx, w); err != nil {
		return nil, err
	}
	callback := w.Callback
	if s.names != nil && w.Username != "" {
		switch err := s.names.free(ctx, w.Username); {
		case errors.Is(err, errUsernameTaken): // the address is verified, so the user may learn it
			callback = c.URL(ID+"/username", "error", queryTaken)
		case err != nil:
			return nil, err
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

// check returns errLink if the address of a sign-up belongs to a user by now, or is not invited. It is called before
// Callbacks.SignIn, which is not asked about a user that cannot be created.
func (s *confirmations) check(ctx context.Context, w *storedSignUp) error {
	switch known, err := userByEmail(ctx, s.created.users, w.typed()); {
	case err != nil:
		return err
	case known != nil:
		return errLink
	}
	admitted, err := s.pending.admits(ctx, w.Email)
	if err == nil && !admitted {
		err = errLink
	}
	return err
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

// forgetSignUp removes a sign-up from the browser's cookie.
func forgetSignUp(c *core.ActionRequest, key string) error {
	var known startedSignUps
	if !c.EncryptedCookie(signUpCookie, &known) {
		return nil
	}
	known.Digests = slices.DeleteFunc(known.Digests, func(d string) bool { return d == key })
	if len(known.Digests) == 0 {
		c.DeleteEncryptedCookie(signUpCookie)
		return nil
	}
	return c.SetEncryptedCookie(signUpCookie, known, signUpTTL)
}
