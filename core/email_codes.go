package core

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/actions"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/plugincookies"
	"github.com/latchkey-go/latchkey/core/internal/problems"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/internal/emailcode"
	"github.com/latchkey-go/latchkey/ui"
)

// The purposes of the codes of core.
const (
	codeReauth = emailcode.Reauth
	codeSignIn = "sign-in"
)

// codeKey is the content of the cookie.
type codeKey struct {
	Key string `json:"key"`
}

// key returns the key of this browser for a purpose, or "". It does not read the store.
func (e *emailCodes) key(c *call, purpose string) string {
	var name codeKey
	e.plugins.readCookie(&c.arrival, plugincookies.Code+purpose, &name)
	return name.Key
}

// issue stores a new code and returns it with the cookie of this browser. An earlier code of the browser for the same
// purpose is no longer accepted.
func (e *emailCodes) issue(ctx context.Context, c *call, r emailcode.Code) (code Secret, cookie Cookie, err error) {
	e.plugins.auth.sessions.cleaning.Perhaps()
	text, key, expires, err := e.Issue(ctx, e.key(c, r.Purpose), r)
	if err != nil {
		return "", Cookie{}, errorf(ErrStore, "%w", err)
	}
	cookie, err = e.plugins.cookie(&c.arrival, plugincookies.Code+r.Purpose, codeKey{key}, expires)
	return Secret(text), cookie, err
}

// forget returns the cookie that removes a code from the browser.
func (e *emailCodes) forget(c *call, purpose string) Cookie {
	spec := c.cookies.Plugin(plugincookies.Code + purpose)
	return Cookie(spec.Clear())
}

// check compares a typed code with the one that this browser requested, and consumes it if it is right. A refusal is a
// *Problem with the code code_wrong, code_expired or too_many.
func (e *emailCodes) check(ctx context.Context, c *call, purpose, typed string) (*emailcode.Code, error) {
	if err := e.limits.ask(ctx, c, newAttempt(limit.AttemptCode, "")); err != nil {
		return nil, err
	}
	r, err := e.Check(ctx, purpose, e.key(c, purpose), typed)
	if err == nil {
		e.limits.right(ctx, c, newAttempt(limit.AttemptCode, ""))
		return r, nil
	}
	var wrong *emailcode.WrongError
	var many *emailcode.TooManyError
	switch {
	case errors.As(err, &wrong):
		return nil, &Problem{
			Status: http.StatusUnauthorized, Code: "code_wrong", Text: textCodeWrong.With(strconv.Itoa(wrong.Left)),
			Members: map[string]any{"left": wrong.Left},
			Cause:   &audit.Denial{Reason: audit.ReasonCode, UserID: wrong.UserID, Err: wrong},
		}
	case errors.As(err, &many):
		c.note(ctx, audit.Event{
			Name: audit.Limit, Outcome: audit.Refused, Attempt: string(limit.AttemptCode), Subject: many.Address,
		})
		return nil, &Problem{
			Status: http.StatusTooManyRequests, Code: "too_many", Text: textCodeTooMany, RetryAfter: many.Wait,
			Cause: &problems.TooMany{Wait: many.Wait},
		}
	case errors.Is(err, emailcode.ErrExpired):
		return nil, errCodeExpired()
	case errors.Is(err, emailcode.ErrBusy):
		return nil, &Problem{
			Status: http.StatusServiceUnavailable, Code: "unavailable", RetryAfter: time.Second, Cause: err,
		}
	}
	return nil, errorf(ErrStore, "%w", err)
}

var (
	textCodeWrong   = ui.Text{Key: "code.wrong", English: "That code isn't right. Attempts left: %s."}
	textCodeExpired = ui.Text{Key: "code.expired", English: "That code is no longer valid. Request a new one."}
	textCodeTooMany = ui.Text{Key: "code.too-many", English: "Too many wrong codes. Please try again later."}
)

func errCodeExpired() error {
	return &Problem{
		Status: http.StatusUnauthorized, Code: "code_expired", Text: textCodeExpired,
		Cause: errormarks.Denial(audit.ReasonCodeExpired, emailcode.ErrExpired.Error()),
	}
}

// IssueCode makes a code for an email and sets the cookie of this browser. An earlier code of the browser for the same
// purpose is no longer accepted. To keep secret whether an address has an account, a plugin calls IssueCode for every
// address, and sends the email only if there is an account. It needs a store with records.
func (c *ActionRequest) IssueCode(ctx context.Context, e EmailCode) (Secret, error) {
	codes, err := c.plugins.emailCodes(e.Purpose)
	if err != nil {
		return "", err
	}
	code, cookie, err := codes.issue(ctx, c.in, emailcode.Code{
		Purpose: e.Purpose, Address: e.Address, UserID: e.UserID, Data: e.Data,
	})
	if err == nil {
		c.keep(cookie)
	}
	return code, err
}

// CheckCode compares typed with the code that this browser requested for a purpose. If it is right, CheckCode consumes
// the code and returns what was passed to IssueCode. Of concurrent requests one succeeds. A refusal is a [*Problem]
// with the code code_wrong, whose member left is the number of tries left, code_expired or too_many. It is the same for
// an address without an account. [ActionRequest.CodeError] has the parameters for the page.
//
// If the action then returns an error of the server, or a Problem with status 409, the code is valid again.
func (c *ActionRequest) CheckCode(ctx context.Context, purpose, typed string) (*EmailCode, error) {
	codes, err := c.plugins.emailCodes(purpose)
	if err != nil {
		return nil, err
	}
	r, err := codes.check(ctx, c.in, purpose, typed)
	if err != nil {
		return nil, err
	}
	c.code = r
	c.keep(codes.forget(c.in, purpose))
	return &EmailCode{Purpose: r.Purpose, Address: r.Address, UserID: r.UserID, Data: r.Data}, nil
}

// restoreCode makes the code of this request valid again if the action failed and the client is not the cause. This
// repeats no change: a code is for a link, which is used once, or for a re-authentication.
func (c *ActionRequest) restoreCode(ctx context.Context, failure error) {
	problem, _ := errors.AsType[*Problem](failure)
	busy := problem != nil && problem.Status == http.StatusConflict
	if c.code == nil || !busy && !isServerFailure(failure) {
		return
	}
	if err := c.plugins.entry.codes.Restore(context.WithoutCancel(ctx), c.code); err != nil {
		c.plugins.auth.log.failure(ctx, errorf(ErrStore, "restore a code after a failure: %w", err), c.in.attrs()...)
		return
	}
	spec := c.in.cookies.Plugin(plugincookies.Code + c.code.Purpose)
	c.kept = slices.DeleteFunc(c.kept, func(k Cookie) bool { return k.Name == spec.Name() })
}

// HasCode reports whether this browser has requested a code for a purpose within ten minutes. It does not read the
// store: the code may have been used.
func (c *ActionRequest) HasCode(purpose string) bool {
	codes, err := c.plugins.emailCodes(purpose)
	return err == nil && codes.key(c.in, purpose) != ""
}

// CodeExpired returns the refusal of a code whose link in the same email was used.
func (c *ActionRequest) CodeExpired() error { return errCodeExpired() }

// emailCodes returns the codes for a plugin's purpose.
func (ps *plugins) emailCodes(purpose string) (*emailCodes, error) {
	switch codes := ps.entry.codes; {
	case codes == nil:
		return nil, errors.New("core: codes need a Store that implements store.RecordStore")
	case !actions.IsName(purpose) || len(purpose) > 24 || slices.Contains([]string{codeReauth, codeSignIn}, purpose):
		return nil, fmt.Errorf("core: invalid purpose of a code: %q", purpose)
	default:
		return codes, nil
	}
}

// CodeError returns the parameters error and left of a page with a [ui.CodeForm] for a refusal of
// [ActionRequest.CheckCode], as names and values. ok is false if err is another error.
func (c *ActionRequest) CodeError(err error) (query []string, ok bool) { return codeError(err) }

func codeError(err error) (query []string, ok bool) {
	var problem *Problem
	if !errors.As(err, &problem) {
		return nil, false
	}
	if left, ok := problem.Members["left"].(int); ok {
		query = append(query, "left", strconv.Itoa(left))
	}
	text := map[string]string{
		"code_wrong": "CodeWrong", "code_expired": "CodeExpired", "too_many": "TooManyCodes",
	}[problem.Code]
	return append(query, "error", text), text != ""
}
