package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// The codes of problems.
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
	codeNotListed   = "sessions_not_listed"
	codeMail        = "mail_failed"
	codeOther       = "somebody_else"
)

type handler = func(ctx context.Context, c *core.Call) (*core.Response, error)

// here is the visitor: a session that the guards have let through.
func here(ctx context.Context, c *core.Call) (*core.Session, error) {
	session, err := c.Session(ctx)
	if err == nil && session == nil {
		err = &core.Problem{Status: http.StatusUnauthorized, Code: codeReauth}
	}
	return session, err
}

// said is what the next page says about the request before it.
type said struct {
	Done    string `json:"done,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// saidCookie keeps it on the way there, so that no link can put words into the page.
const saidCookie = "account-said"

// done answers a change that was made: data to those who asked for data, else the account page with a sentence.
func done(ctx context.Context, c *core.Call, what string, data any) (*core.Response, error) {
	if c.WantsJSON {
		return c.Answer(ctx, http.StatusOK, data), nil
	}
	return tell(c, said{Done: what})
}

// refuse answers a change that was not made: the account page with a sentence, or a problem document.
func refuse(c *core.Call, status int, code string) (*core.Response, error) {
	if c.WantsJSON {
		return nil, &core.Problem{Status: status, Code: code, Text: problemText(code)}
	}
	return tell(c, said{Problem: code})
}

func tell(c *core.Call, s said) (*core.Response, error) {
	if err := c.Keep(saidCookie, s, time.Minute); err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	return c.Redirect(c.URL("account")), nil
}

// changed answers a change of the ways to sign in.
func changed(ctx context.Context, c *core.Call, what string, err error) (*core.Response, error) {
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
	return done(ctx, c, what, struct{}{})
}
