package secondfactor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/ui"
)

// The codes of problem responses.
const (
	codeWrong          = "code_wrong"
	codeUsed           = "code_used"
	codeMany           = "too_many"
	codeEnrollRequired = "enroll_required"
	codePendingExpired = "pending_expired"
	codeFactorRequired = "factor_required"
	codeFull           = "too_many_factors"
	codeNotFound       = "not_found"
	codeBusy           = "busy"
)

// problem is a refusal that is shown on the page of a form, or sent as a problem document.
type problem struct {
	status int
	code   string
	text   ui.Text
}

// problems are the refusals of codes and forms.
var problems = map[error]problem{
	errWrong:    {http.StatusUnprocessableEntity, codeWrong, textWrong},
	errUsed:     {http.StatusConflict, codeUsed, textUsed},
	errMany:     {http.StatusTooManyRequests, codeMany, textMany},
	errManyHere: {http.StatusTooManyRequests, codeMany, textManyHere},
	errFull:     {http.StatusConflict, codeFull, textFull},
	// The passkey script and the page show more than the text.
	errPasskey: {http.StatusUnprocessableEntity, codeWrong, textPasskeyWrong},
}

// refusal returns the problem of an error, if it is one that the user can understand.
func refusal(err error) (problem, bool) {
	for known, p := range problems {
		if errors.Is(err, known) {
			return p, true
		}
	}
	return problem{}, false
}

func (p problem) document() *core.Problem {
	return &core.Problem{Status: p.status, Code: p.code, Text: p.text}
}

// expired is the response if the browser has no pending sign-in.
func expired() error {
	return &core.Problem{Status: http.StatusGone, Code: codePendingExpired, Text: textExpired}
}

// enrollRequired is the response to a sign-in that cannot continue without enrollment.
func enrollRequired() error {
	return &core.Problem{Status: http.StatusForbidden, Code: codeEnrollRequired, Text: textEnrollRequired}
}

// flash is the result message that the next page shows.
type flash struct {
	Done string `json:"done,omitempty"`
	// Next is the page that a sign-in continues to, after the settings page was shown.
	Next string `json:"next,omitempty"`
}

const flashCookie = "second-factor-said"

// done responds to a successful change: with JSON, or with a redirect to the settings and a message.
func done(ctx context.Context, c *core.ActionRequest, what string) (*core.Response, error) {
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, changed{Done: what}), nil
	}
	if err := c.SetEncryptedCookie(flashCookie, flash{Done: what}, time.Minute); err != nil {
		return nil, fmt.Errorf("secondfactor: %w", err)
	}
	return c.Redirect(c.URL(name + "/settings")), nil
}

func doneText(what string) ui.Text {
	switch what {
	case "added":
		return textDoneAdded
	case "removed":
		return textDoneRemoved
	case "saved":
		return textDoneSaved
	case "passkeys-on":
		return textDonePasskeysOn
	case "passkeys-off":
		return textDonePasskeysOff
	case "forgotten":
		return textDoneForgotten
	}
	return ui.Text{}
}

// authorize decides whether a session may change the factors of its user: the user must have authenticated recently
// and, if they have a second factor, with it. A session from before the enrollment or of a trusted browser is not
// sufficient. refused is the redirect to the page that asks for the factor.
func authorize(ctx context.Context, c *core.ActionRequest, session *core.Session, st *state) (
	refused *core.Response, err error,
) {
	if err := core.RecentSignIn(fresh)(ctx, session); err != nil {
		return nil, err
	}
	switch {
	case !st.enrolled() || core.Strong()(ctx, session) == nil:
		return nil, nil
	case c.WantsJSON:
		return nil, &core.Problem{Status: http.StatusForbidden, Code: codeFactorRequired, Text: textFactorRequired}
	}
	return c.Redirect(c.URL(name+"/verify", "callbackUrl", c.URL(name+"/settings"))), nil
}

// tellRefused records a code that was not accepted.
func tellRefused(ctx context.Context, c *core.ActionRequest, userID string, err error) {
	e := audit.Event{Name: audit.FactorChecked, Outcome: audit.Refused, UserID: userID}
	switch {
	case errors.Is(err, errWrong):
		e.Reason = audit.ReasonCredentials
	case errors.Is(err, errUsed):
		e.Reason = audit.ReasonReplayed
	case errors.Is(err, errMany), errors.Is(err, errManyHere):
		e.Name, e.Attempt = audit.Limit, "code"
	default:
		e.Outcome, e.Reason = audit.Failed, audit.ReasonFault
	}
	c.Audit(ctx, e)
}
