package core

import (
	"context"
	"errors"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

// verdict returns the outcome and the reason of an error. remote reports whether a provider was involved.
func verdict(err error, remote bool) (audit.Outcome, audit.Reason) {
	e := errormarks.As(err, autherr.CallbackRoute)
	var why *audit.Denial
	var panicked *panics.Error
	switch failed := errormarks.Level(e) >= slog.LevelError; {
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
	case autherr.InvalidCheck:
		return audit.ReasonCheck
	case autherr.OAuthCallback:
		return audit.ReasonProviderRefused
	case autherr.WebAuthnVerification:
		return audit.ReasonPasskey
	case ErrEmailSignIn:
		return audit.ReasonAddress
	}
	return audit.ReasonRequest
}

// auditReason returns an error with a reason for the audit event.
func auditReason(r audit.Reason, text string) error {
	return &audit.Denial{Reason: r, Err: errors.New(text)}
}

// callOutcome maps an error to an outcome, so that the error's text, which may contain anything, is not reported.
func callOutcome(ctx context.Context, err error) observe.Outcome {
	var refusal *oauth.Refusal
	var unanswered *upstream.Error
	var ours *Error
	switch {
	case err == nil:
		return observe.OK
	case errors.Is(err, ErrNotFound):
		return observe.Absent
	case errors.Is(err, ErrConflict):
		return observe.Conflict
	case errors.As(err, &refusal), errors.Is(err, challenge.ErrRefused):
		return observe.Refused
	case errors.Is(ctx.Err(), context.Canceled):
		return observe.Canceled
	case errors.Is(err, ErrStoreUnavailable), errors.Is(err, context.DeadlineExceeded), errors.As(err, &unanswered):
		return observe.Unavailable
	case errors.As(err, &ours):
		if outcome, _ := verdict(err, false); outcome == audit.Refused {
			return observe.Refused
		}
	}
	return observe.Failed
}
