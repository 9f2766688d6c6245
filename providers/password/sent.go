package password

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/ui"
)

// sentMail is the cookie with the address that the last email was requested for in this browser, as the user typed it.
// Code is the purpose of the code in the email, or empty if the page has no input for one.
type sentMail struct {
	Email string `json:"e"`
	Code  string `json:"c,omitempty"`
}

func lastSent(c *core.ActionRequest) (sent sentMail) {
	c.EncryptedCookie(sentCookie, &sent)
	return sent
}

const (
	sentCookie = "password-sent"
	sentTTL    = time.Hour
)

// toSent responds to a request for an email: the next page shows the address. It does so whether or not an email was
// sent.
func toSent(ctx context.Context, c *core.ActionRequest, sent sentMail, query ...string) (*core.Response, error) {
	if !c.WantsJSON {
		if err := c.SetEncryptedCookie(sentCookie, sent, sentTTL); err != nil {
			return nil, fmt.Errorf("password: store the address for the next page: %w", err)
		}
	}
	return next(ctx, c, http.StatusAccepted, "mail", ID+"/sent", query...)
}

// showSent handles GET password/sent. The query says whether the email resets a password or completes a sign-up.
func showSent(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	page := c.Page("")
	sent := lastSent(c)
	v := ui.SentView{
		Page: page, CSRFToken: c.CSRFToken, Text: page.Locale.Say(textSentBody), Email: sent.Email,
		ChangeURL: c.URL(ID + "/sign-up"), URL: c.Home, Host: c.Host(),
	}
	resend, action := ID+"/resend", challenge.SignUp
	if c.Field("for") == forReset {
		action = challenge.Reset
		v.Text, v.ChangeURL, resend = page.Locale.Say(textSentReset), c.URL(ID+"/forgot"), ID+"/forgot"
	}
	input := codeInput(c, sent, &v)
	if sent.Email != "" {
		v.ResendURL = c.URL(resend)
		v.Challenge = c.ChallengeWidget(action)
	}
	return c.Render(ctx, http.StatusOK, v.Page, sentPage(v, input)), nil
}

// forReset is the query parameter "for" of password/sent after a password reset was requested.
const forReset = "reset"

// codeInput returns the form for a code, or nil if this browser has none. It changes the text of v.
func codeInput(c *core.ActionRequest, sent sentMail, v *ui.SentView) *ui.CodeForm {
	purpose, text, action := codeSignUp, textSentCode, "/confirm-code"
	if c.Field("for") == forReset {
		purpose, text, action = codeReset, textSentResetCode, "/reset-code"
	}
	if sent.Code != purpose || !c.HasCode(purpose) {
		return nil
	}
	v.Text = v.Locale.Say(text)
	return &ui.CodeForm{
		CSRFToken: c.CSRFToken, Action: c.URL(ID + action), Link: true, Error: c.Field("error"),
		Left: c.Field("left"),
	}
}

// The purposes of codes.
const (
	codeReset  = ID + "-reset"
	codeSignUp = ID + "-sign-up"
)

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
