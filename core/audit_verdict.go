package core

import (
	"context"
	"errors"
	"log/slog"
)

// refused notes the error that stopped a request. typed is the identifier that the client typed.
func (c *call) refused(ctx context.Context, name AuditName, typed string, err error) {
	if c.audit == nil {
		return
	}
	e := AuditEvent{Name: name, Subject: typed}
	e.Outcome, e.Reason = verdict(err, c.kind == TypeOAuth || c.kind == TypeOIDC)
	var why *Refusal
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
	var why *Refusal
	if errors.As(err, &why) {
		v.decided(ctx, AuditSessionEnded, why.Reason, why.UserID)
		return
	}
	v.audit.note(ctx, v, AuditEvent{Name: AuditSessionEnded, Outcome: OutcomeRefused, Reason: ReasonUnreadable})
}

// auditGuard notes a request that was refused before its action ran.
func (c *call) auditGuard(ctx context.Context, err error) {
	switch {
	case c.audit == nil:
	case errors.Is(err, ErrMissingCSRF):
		reason := ReasonNoToken
		if c.csrf.sentFrom == anotherSite {
			reason = ReasonCrossSite
		}
		c.audit.note(ctx, &c.arrival, AuditEvent{Name: AuditCSRF, Outcome: OutcomeRefused, Reason: reason})
	case errors.Is(err, ErrUntrustedHost):
		c.audit.note(ctx, &c.arrival, AuditEvent{Name: AuditConfig, Outcome: OutcomeRefused, Reason: ReasonHost})
	}
}

// auditStart notes a sign-in that could not be started. For an email provider, that is an email that was not sent.
func (c *call) auditStart(ctx context.Context, err error) {
	if c.audit == nil || alreadyNoted(err) {
		return
	}
	name, typed := AuditSignIn, ""
	if c.kind == TypeEmail {
		name = AuditMailAsked
		typed, _ = c.fields.Text("email")
	}
	c.refused(ctx, name, typed, err)
}

// auditCallback notes a sign-in that failed.
func (c *call) auditCallback(ctx context.Context, typed string, err error) {
	if c.audit == nil || alreadyNoted(err) {
		return
	}
	name := AuditSignIn
	action, _ := c.fields.Text("action")
	switch {
	case errors.Is(err, ErrOAuthAccountNotLinked), errors.Is(err, ErrAccountNotLinked):
		name = AuditAccountRefused
	case c.kind == TypeWebAuthn && action == ceremonyRegister:
		name = AuditPasskeyAdded
	}
	c.refused(ctx, name, typed, err)
}

// alreadyNoted reports whether an event was emitted for the error already: by a guard or a limit.
func alreadyNoted(err error) bool {
	return errors.Is(err, ErrMissingCSRF) || errors.Is(err, ErrTooManyRequests) || errors.Is(err, ErrTooManyFailures)
}

// verdict returns the outcome and the reason of an error. remote reports whether a provider was involved.
func verdict(err error, remote bool) (Outcome, Reason) {
	e := asError(err, ErrCallbackRoute)
	var why *Refusal
	var panicked *panicError
	switch failed := e.level() >= slog.LevelError; {
	case errors.Is(err, ErrStoreUnavailable), e.Type == ErrStore, e.Type == ErrSessionToken:
		return OutcomeFailed, ReasonStore
	case errors.As(err, &panicked):
		return OutcomeFailed, ReasonFault
	case errors.As(err, &why) && why.Reason != "":
		return OutcomeRefused, why.Reason
	case failed && e.Type == ErrEmailSignIn:
		return OutcomeFailed, ReasonMail
	case failed && remote && e.Type != ErrAccessDenied:
		return OutcomeFailed, ReasonProvider
	case failed:
		return OutcomeFailed, ReasonFault
	}
	return OutcomeRefused, reasonOf(e.Type)
}

// reasonOf returns the reason of an error that does not contain one.
func reasonOf(t ErrorType) Reason {
	switch t {
	case ErrAccessDenied:
		return ReasonDenied
	case ErrCredentialsSignin:
		return ReasonCredentials
	case ErrAccountNotLinked, ErrOAuthAccountNotLinked:
		return ReasonNotLinked
	case ErrInvalidCheck:
		return ReasonCheck
	case ErrOAuthCallback:
		return ReasonProviderRefused
	case ErrWebAuthnVerification:
		return ReasonPasskey
	case ErrEmailSignIn:
		return ReasonAddress
	}
	return ReasonRequest
}
