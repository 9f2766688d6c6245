package core

import (
	"context"
	"errors"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/audit"
)

// refused notes the error that stopped a request. typed is the identifier that the client typed.
func (c *call) refused(ctx context.Context, name audit.Name, typed string, err error) {
	if c.audit == nil {
		return
	}
	e := audit.Event{Name: name, Subject: typed}
	e.Outcome, e.Reason = verdict(err, c.kind == TypeOAuth || c.kind == TypeOIDC)
	var why *audit.Denial
	if errors.As(err, &why) {
		e.UserID = why.UserID
	}
	if e.UserID != "" {
		e.Subject = "" // the identifier belongs to a known user
	}
	c.audit.note(ctx, &c.arrival, e)
}

// sessionEnded notes a session cookie that is no longer valid: its session ended or does not exist.
func (v *arrival) sessionEnded(ctx context.Context, err error) {
	var why *audit.Denial
	if errors.As(err, &why) {
		v.decided(ctx, audit.SessionEnded, why.Reason, why.UserID)
		return
	}
	v.audit.note(ctx, v, audit.Event{Name: audit.SessionEnded, Outcome: audit.Refused, Reason: audit.ReasonUnreadable})
}

// auditGuard notes a request that was refused before its action ran.
func (c *call) auditGuard(ctx context.Context, err error) {
	switch {
	case c.audit == nil:
	case errors.Is(err, ErrMissingCSRF):
		reason := audit.ReasonNoToken
		if c.csrf.sentFrom == anotherSite {
			reason = audit.ReasonCrossSite
		}
		c.audit.note(ctx, &c.arrival, audit.Event{Name: audit.CSRF, Outcome: audit.Refused, Reason: reason})
	case errors.Is(err, ErrUntrustedHost):
		c.audit.note(ctx, &c.arrival, audit.Event{Name: audit.Config, Outcome: audit.Refused, Reason: audit.ReasonHost})
	}
}

// auditStart notes a sign-in that could not be started. For an email provider, that is an email that was not sent.
func (c *call) auditStart(ctx context.Context, err error) {
	if c.audit == nil || alreadyNoted(err) {
		return
	}
	name, typed := audit.SignIn, ""
	if c.kind == TypeEmail {
		name = audit.MailAsked
		typed, _ = c.fields.Text("email")
	}
	c.refused(ctx, name, typed, err)
}

// auditCallback notes a sign-in that failed.
func (c *call) auditCallback(ctx context.Context, typed string, err error) {
	if c.audit == nil || alreadyNoted(err) {
		return
	}
	name := audit.SignIn
	action, _ := c.fields.Text("action")
	switch {
	case errors.Is(err, ErrOAuthAccountNotLinked), errors.Is(err, ErrAccountNotLinked):
		name = audit.AccountRefused
	case c.kind == TypeWebAuthn && action == ceremonyRegister:
		name = audit.PasskeyAdded
	}
	c.refused(ctx, name, typed, err)
}

// alreadyNoted reports whether an event was emitted for the error already: by a guard or a limit.
func alreadyNoted(err error) bool {
	return errors.Is(err, ErrMissingCSRF) || errors.Is(err, ErrTooManyRequests) || errors.Is(err, ErrTooManyFailures)
}

// verdict returns the outcome and the reason of an error. remote reports whether a provider was involved.
func verdict(err error, remote bool) (audit.Outcome, audit.Reason) {
	e := asError(err, ErrCallbackRoute)
	var why *audit.Denial
	var panicked *panicError
	switch failed := e.level() >= slog.LevelError; {
	case errors.Is(err, ErrStoreUnavailable), e.Type == ErrStore, e.Type == ErrSessionToken:
		return audit.Failed, audit.ReasonStore
	case errors.As(err, &panicked):
		return audit.Failed, audit.ReasonFault
	case errors.As(err, &why) && why.Reason != "":
		return audit.Refused, why.Reason
	case failed && e.Type == ErrEmailSignIn:
		return audit.Failed, audit.ReasonMail
	case failed && remote && e.Type != ErrAccessDenied:
		return audit.Failed, audit.ReasonProvider
	case failed:
		return audit.Failed, audit.ReasonFault
	}
	return audit.Refused, reasonOf(e.Type)
}

// reasonOf returns the reason of an error that does not contain one.
func reasonOf(t ErrorType) audit.Reason {
	switch t {
	case ErrAccessDenied:
		return audit.ReasonDenied
	case ErrCredentialsSignin:
		return audit.ReasonCredentials
	case ErrAccountNotLinked, ErrOAuthAccountNotLinked:
		return audit.ReasonNotLinked
	case ErrInvalidCheck:
		return audit.ReasonCheck
	case ErrOAuthCallback:
		return audit.ReasonProviderRefused
	case ErrWebAuthnVerification:
		return audit.ReasonPasskey
	case ErrEmailSignIn:
		return audit.ReasonAddress
	}
	return audit.ReasonRequest
}

// because returns an error with a reason for the audit event.
func because(r audit.Reason, text string) error {
	return &audit.Denial{Reason: r, Err: errors.New(text)}
}
