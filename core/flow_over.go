package core

import (
	"context"
	"errors"
	"fmt"

	"github.com/latchkey-go/latchkey/ui"
)

// callbackReason says why a sign-in can no longer be completed. The error page receives it in the parameter "reason".
type callbackReason string

// The reasons. Custom error pages of applications read them, so the values must not change.
const (
	// reasonExpired: the browser has no cookie of the flow. It was started too long ago, or in another browser.
	reasonExpired callbackReason = "expired"
	// reasonBrowser: another browser started the flow.
	reasonBrowser callbackReason = "browser"
	// reasonUsed: the code, challenge or link was used before.
	reasonUsed callbackReason = "used"
)

// overError marks the cause of an error: the callback can no longer be used. The user may have reloaded it, returned to
// it with the back button, or waited too long.
type overError struct {
	error
	reason callbackReason
}

// Unwrap returns the cause.
func (e *overError) Unwrap() error { return e.error }

// overf is errorf for a callback that can no longer be used.
func overf(t ErrorType, reason callbackReason, format string, args ...any) *Error {
	return &Error{Type: t, Cause: &overError{fmt.Errorf(format, args...), reason}}
}

// reasonIn returns why a callback can no longer be used. It is empty for other errors.
func reasonIn(err error) callbackReason {
	var over *overError
	if errors.As(err, &over) {
		return over.reason
	}
	return ""
}

// readReason reads the parameter of the error page. It returns "" for a value that is not a reason.
func readReason(text string) callbackReason {
	switch reason := callbackReason(text); reason {
	case reasonExpired, reasonBrowser, reasonUsed:
		return reason
	}
	return ""
}

// alreadySignedIn answers a callback that can no longer be used, if its user is signed in: it redirects to where the
// sign-in would have. It returns nil if no user is signed in, for a link to another user's address, and for the
// registration of a passkey, whose user must know that it failed.
func (s *signIns) alreadySignedIn(ctx context.Context, c *call, out *outcome, err error) *Response {
	action, _ := c.fields.Text("action")
	if reasonIn(err) == "" || c.kind == TypeWebAuthn && action == ceremonyRegister {
		return nil
	}
	user, notKnown := s.sessions.currentUser(ctx, &c.session)
	if notKnown != nil || user == nil || c.kind == TypeEmail && user.Email != c.query.Get("email") {
		return nil
	}
	failed := asError(err, ErrCallbackRoute)
	c.log.failure(ctx, failed, c.attrs()...)
	response := redirectTo(or(out.returnTo, c.callbackURL.now))
	response.Err = failed
	return response
}

// currentUser returns the user of the current session, as far as the session itself says; nil if no user is signed in.
func (s *sessions) currentUser(ctx context.Context, p *presented) (*User, error) {
	if p.value() == "" {
		return nil, nil
	}
	p.again()
	if s.config.Strategy == StrategyJWT {
		token, err := p.live(ctx)
		switch {
		case errors.Is(err, ErrSessionToken):
			return nil, err
		case err != nil:
			return nil, nil //nolint:nilerr // an unreadable session counts as signed out
		}
		return &User{ID: token.Subject, Name: token.Name, Email: token.Email}, nil
	}
	_, user, err := p.stored(ctx)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return user, err
}

// confirmUser decides about a sign-in whose flow was not started under the current session. If it signs in the current
// user, it returns nil, and the sign-in continues. Otherwise it returns a page that asks the user whether to continue
// as the other user, or an error if the flow belongs to another session. The sign-in never links an account then.
func (s *signIns) confirmUser(ctx context.Context, c *call, out *outcome) (*Response, error) {
	id := out.who
	if id.started != flowSignedOut && id.started != flowOtherSession {
		return nil, nil
	}
	current, err := s.sessions.currentUser(ctx, &c.session)
	if err != nil || current == nil {
		return nil, err
	}
	owner := id.user
	if s.store.Store != nil {
		owner, err = userByAccount(ctx, s.store, id.account)
	}
	switch {
	case err != nil && !errors.Is(err, ErrNotFound):
		return nil, errorf(ErrStore, "%w", err)
	case err == nil && owner.ID == current.ID:
		return nil, nil
	case id.started == flowOtherSession || id.client == nil:
		return nil, overf(ErrInvalidCheck, reasonUsed, "the sign-in was started under another session")
	}
	view := ui.SwitchView{
		Page: s.pages.shell(&c.arrival), CSRFToken: c.csrf.token, Current: nameOf(current), Other: nameOf(id.user),
		ContinueURL: or(out.returnTo, c.callbackURL.now), Action: c.base + "/signin/" + c.providerID,
	}
	view.CallbackURL = view.ContinueURL
	return s.pages.render(ctx, &c.arrival, &Response{}, view.Nonce, s.pages.views.Switch(view)), nil
}

// nameOf returns the email address, name or ID of a user, for display.
func nameOf(u *User) string { return or(or(u.Email, u.Name), u.ID) }
