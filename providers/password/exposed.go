package password

import (
	"context"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/ui"
)

// exposed handles sign-ins with a password that is known from a breach. Attackers who try stolen passwords know it
// too, so that the password alone must neither sign in nor choose a new password: the user opens a link or enters a
// code that is sent to their address.
type exposed struct {
	host      *core.PluginHost
	passwords *passwords
	requests  *resetRequests
	resets    *resets
	recovers  bool // a user without an address can use a recovery code
}

// codeExposed is the purpose of the code.
const codeExposed = ID + "-breached"

func (s *exposed) actions() []core.Action {
	return []core.Action{
		{Method: http.MethodGet, Verb: "breached", Handle: s.show},
		{Method: http.MethodPost, Verb: "breached", Handle: s.send},
		{Method: http.MethodPost, Verb: "breached-code", Handle: s.check},
	}
}

// gate holds a sign-in with a breached password. Other sign-in methods do not depend on the password.
func (s *exposed) gate(ctx context.Context, p *core.PendingSignIn) (next string, err error) {
	if p.Account.Provider != ID {
		return "", nil
	}
	old, err := s.passwords.load(ctx, p.User.ID)
	if err != nil || old == nil || !old.Breached {
		return "", err
	}
	s.host.Audit(ctx, audit.Event{
		Name: audit.PasswordBreached, Outcome: audit.Refused, UserID: p.User.ID, Provider: ID,
	})
	return ID + "/breached", nil
}

// user returns the user of the pending sign-in as the store has them.
func (s *exposed) user(ctx context.Context, c *core.ActionRequest) (*core.User, error) {
	p, err := c.PendingSignIn(ctx)
	if err != nil {
		return nil, err
	}
	if p != nil {
		user, err := userByID(ctx, s.requests.users, p.User.ID)
		if err != nil || user != nil {
			return user, err
		}
	}
	return nil, &core.Problem{
		Status: http.StatusGone, Code: codePendingExpired, Text: textLink,
	}
}

// exposedView is the data of the page that asks for a code.
type exposedView struct {
	csrf, signIn string
	text, button ui.Text
	// send is the URL of the form that requests a code, and code the form for it. They are empty if the user has no
	// address, or has not requested a code.
	send string
	code *ui.CodeForm
	// recover is the URL of the page for a recovery code. It is empty if the user has an address or there are no codes.
	recover string
}

// withoutAddress returns the text for a user without an address.
func (s *exposed) withoutAddress() ui.Text {
	if s.recovers {
		return textExposedCode
	}
	return textExposedNone
}

// show handles GET password/breached. The page does not show the address, because an attacker may see it.
func (s *exposed) show(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	user, err := s.user(ctx, c)
	if err != nil {
		return nil, err
	}
	page := c.Page("")
	v := exposedView{csrf: c.CSRFToken, signIn: c.URL("signin"), text: textExposed, button: textExposedButton}
	switch {
	case user.Email == "" && c.WantsJSON:
		return nil, problem(http.StatusConflict, codeNoAddress, s.withoutAddress())
	case user.Email == "":
		v.text = s.withoutAddress()
		if s.recovers {
			v.recover = c.URL(ID + "/recover")
		}
	case c.WantsJSON:
		return c.JSON(ctx, http.StatusOK, nextStep{Next: "mail"}), nil
	default:
		v.send = c.URL(ID + "/breached")
	}
	if v.send != "" && c.HasCode(codeExposed) {
		v.button = textExposedAgain
		v.code = &ui.CodeForm{
			CSRFToken: c.CSRFToken, Action: c.URL(ID + "/breached-code"), Link: true, Error: c.Field("error"),
			Left: c.Field("left"),
		}
	}
	return c.Render(ctx, http.StatusOK, page, exposedPage(page, v)), nil
}

// send handles POST password/breached. The email is that of a requested reset: a link that works in any browser, and a
// code for this one. An address that is not verified gets it too, as after password/forgot, and is verified by it.
func (s *exposed) send(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	user, err := s.user(ctx, c)
	if err != nil {
		return nil, err
	}
	address, ok := isMail(user.Email)
	if !ok {
		return nil, problem(http.StatusConflict, codeNoAddress, s.withoutAddress())
	}
	if err := c.Allow(ctx, limit.AttemptMail, address); err != nil {
		return nil, err
	}
	r := resetRequest{Typed: user.Email, Address: address, UserID: user.ID}
	if err := s.requests.send(ctx, c, codeExposed, r); err != nil {
		return nil, busyProblem(err)
	}
	c.Audit(ctx, audit.Event{Name: audit.PasswordResetAsked, Outcome: audit.OK, UserID: user.ID})
	return next(ctx, c, http.StatusAccepted, "mail", ID+"/breached")
}

// check handles POST password/breached-code (code). It opens the reset page, as the link does.
func (s *exposed) check(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	found, err := c.CheckCode(ctx, codeExposed, c.Field("code"))
	if err == nil {
		return s.resets.open(c, found.Data)
	}
	return refuseCode(ctx, c, err, audit.PasswordSet, ID+"/breached")
}
