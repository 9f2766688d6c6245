package account

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
	codeReauth      = "reauth_required"
	codeLast        = "last_method"
	codeNotFound    = "not_found"
	codeBusy        = "busy"
	codeMany        = "too_many"
	codeEmail       = "email_invalid"
	codeSameEmail   = "email_same"
	codeLinkInvalid = "link_invalid"
	codePhrase      = "phrase_wrong"
	codeName        = "name_invalid"
	codeImage       = "image_invalid"
	codeNotListed   = "sessions_not_listed"
	codeMail        = "mail_failed"
	codeOther       = "somebody_else"
	codeDeletion    = "deletion_started"
)

type handler = func(ctx context.Context, c *core.ActionRequest) (*core.Response, error)

// currentSession returns the current session, which the guards have accepted.
func currentSession(ctx context.Context, c *core.ActionRequest) (*core.Session, error) {
	session, err := c.Session(ctx)
	if err == nil && session == nil {
		err = &core.Problem{Status: http.StatusUnauthorized, Code: codeReauth}
	}
	return session, err
}

// flash is the result message that the next page shows about this request.
type flash struct {
	Done    string `json:"done,omitempty"`
	Problem string `json:"problem,omitempty"`
	// Removed is the ID of the removed passkey, in base64url.
	Removed string `json:"removed,omitempty"`
}

// flashCookie stores the message until the next page. A query parameter would let any link put words into the page.
const flashCookie = "account-said"

// done responds to a successful change: with data as JSON, or with a redirect to the account page and a message.
func done(ctx context.Context, c *core.ActionRequest, what string, data any) (*core.Response, error) {
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, data), nil
	}
	return redirectWithFlash(c, flash{Done: what})
}

// refuse responds to a rejected change: with a problem document, or with a redirect to the account page and a message.
func refuse(c *core.ActionRequest, status int, code string) (*core.Response, error) {
	if c.WantsJSON {
		return nil, &core.Problem{Status: status, Code: code, Text: problemText(code)}
	}
	return redirectWithFlash(c, flash{Problem: code})
}

func redirectWithFlash(c *core.ActionRequest, s flash) (*core.Response, error) {
	if err := c.SetEncryptedCookie(flashCookie, s, time.Minute); err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	return c.Redirect(c.URL("account")), nil
}

// methodChanged maps the result of a change to the sign-in methods to a response.
func methodChanged(ctx context.Context, c *core.ActionRequest, what string, err error) (*core.Response, error) {
	switch {
	case errors.Is(err, ErrLastMethod):
		return refuse(c, http.StatusConflict, codeLast)
	case errors.Is(err, core.ErrNotFound):
		return refuse(c, http.StatusNotFound, codeNotFound)
	case errors.Is(err, errBusy):
		return refuse(c, http.StatusConflict, codeBusy)
	case err != nil:
		return nil, err
	}
	return done(ctx, c, what, methodOutput{what})
}

// auditDone records a successful change in the audit log.
func auditDone(ctx context.Context, c *core.ActionRequest, name audit.Name, session *core.Session) {
	c.Audit(ctx, audit.Event{
		Name: name, Outcome: audit.OK, UserID: session.UserID, SessionID: session.ID, Methods: audit.Texts(session.Methods),
	})
}

// announce announces a change that auditDone records.
func announce(ctx context.Context, c *core.ActionRequest, name audit.Name, userID string) error {
	return c.Announce(ctx, audit.Event{Name: name, UserID: userID})
}

// auditRefused records a rejected change in the audit log.
func auditRefused(ctx context.Context, c *core.ActionRequest, name audit.Name, why audit.Reason, userID string) {
	c.Audit(ctx, audit.Event{Name: name, Outcome: audit.Refused, Reason: why, UserID: userID})
}

// notListed reports whether an error means that the configuration cannot list or end sessions.
func notListed(err error) bool {
	var e *core.Error
	return errors.As(err, &e) && (e.Type == core.ErrInvalidConfig || e.Type == core.ErrMissingStoreMethods)
}

func deadLink() *core.Problem {
	return &core.Problem{Status: http.StatusGone, Code: codeLinkInvalid, Text: problemText(codeLinkInvalid)}
}

// problemText returns the message for a rejected change.
func problemText(code string) ui.Text {
	switch code {
	case "":
		return ui.Text{}
	case codeLast:
		return textProblemLast
	case codeNotFound:
		return textProblemGone
	case codeBusy:
		return textProblemBusy
	case codeEmail:
		return textProblemEmail
	case codeSameEmail:
		return textProblemSame
	case codeLinkInvalid:
		return textProblemLink
	case codePhrase:
		return textProblemPhrase
	case codeName:
		return textProblemName
	case codeMail:
		return textProblemMail
	case codeDeletion:
		return textDeletionStarted
	case codeNotListed:
		return textProblemListed
	case codeOther:
		return textProblemOtherUser
	}
	return textProblemOther
}
