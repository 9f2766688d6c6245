package password

import (
	"context"
	"errors"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
)

// The purposes of codes.
const (
	codeReset  = ID + "-reset"
	codeSignUp = ID + "-sign-up"
)

// codes handles the codes in emails, which do the same as their links.
type codes struct {
	resets        *resets
	confirmations *confirmations
	signUp        bool // sign-up is not closed
}

func (s *codes) actions() []core.Action {
	all := []core.Action{{Method: http.MethodPost, Verb: "reset-code", Handle: s.reset}}
	if s.signUp {
		all = append(all, core.Action{Method: http.MethodPost, Verb: "confirm-code", Handle: s.confirm})
	}
	return all
}

// reset handles POST password/reset-code (code). It opens the reset page of this browser, as the link does. The refusal
// is the same for an address without an account, whose code was not sent.
func (s *codes) reset(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	found, err := c.CheckCode(ctx, codeReset, c.Field("code"))
	if err != nil {
		return s.refuse(ctx, c, err, audit.PasswordSet, "for", forReset)
	}
	return s.resets.open(c, found.Data)
}

// confirm handles POST password/confirm-code (code): it completes the sign-up that this browser started.
func (s *codes) confirm(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	found, err := c.CheckCode(ctx, codeSignUp, c.Field("code"))
	var w *storedSignUp
	if err == nil {
		w, err = s.confirmations.pending.first(ctx, []string{found.Data})
	}
	if err == nil && w == nil { // the link was used
		err = c.CodeExpired()
	}
	if err != nil {
		return s.refuse(ctx, c, err, audit.SignUp)
	}
	return s.confirmations.signIn(ctx, c, w)
}

func (s *codes) refuse(
	ctx context.Context, c *core.ActionRequest, err error, name audit.Name, query ...string,
) (*core.Response, error) {
	return refuseCode(ctx, c, err, name, ID+"/sent", query...)
}

// refuseCode audits a refused code. A browser returns to the page with the input.
func refuseCode(
	ctx context.Context, c *core.ActionRequest, err error, name audit.Name, action string, query ...string,
) (*core.Response, error) {
	var denial *audit.Denial
	if errors.As(err, &denial) {
		c.Audit(ctx, audit.Event{Name: name, Outcome: audit.Refused, Reason: denial.Reason, Provider: ID})
	}
	more, ok := c.CodeError(err)
	if !ok || c.WantsJSON {
		return nil, err
	}
	response := c.Redirect(c.URL(action, append(query, more...)...))
	response.Err = err
	return response, nil
}
