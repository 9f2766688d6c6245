// Package verdict says what the audit log and the observer learn about an error. They never get its text, which may
// contain anything.
package verdict

import (
	"context"
	"errors"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

// Of returns the outcome and the reason of an error. remote reports whether a provider was involved.
func Of(err error, remote bool) (audit.Outcome, audit.Reason) {
	e := errormarks.As(err, autherr.CallbackRoute)
	var why *audit.Denial
	var panicked *panics.Error
	switch failed := errormarks.Level(e) >= slog.LevelError; {
	case errors.Is(err, store.ErrUnavailable), e.Type == autherr.Store, e.Type == autherr.SessionToken:
		return audit.Failed, audit.ReasonStore
	case errors.As(err, &panicked):
		return audit.Failed, audit.ReasonFault
	case errors.As(err, &why) && why.Reason != "":
		return audit.Refused, why.Reason
	case failed && e.Type == autherr.EmailSignIn:
		return audit.Failed, audit.ReasonMail
	case failed && remote && e.Type != autherr.AccessDenied:
		return audit.Failed, audit.ReasonProvider
	case failed:
		return audit.Failed, audit.ReasonFault
	}
	return audit.Refused, reasonOf(e.Type)
}

// reasonOf returns the reason of an error that does not contain one.
func reasonOf(t autherr.Type) audit.Reason {
	switch t {
	case autherr.AccessDenied:
		return audit.ReasonDenied
	case autherr.CredentialsSignin:
		return audit.ReasonCredentials
	case autherr.AccountNotLinked, autherr.OAuthAccountNotLinked:
		return audit.ReasonNotLinked
	case autherr.InvalidCheck:
		return audit.ReasonCheck
	case autherr.OAuthCallback:
		return audit.ReasonProviderRefused
	case autherr.WebAuthnVerification:
		return audit.ReasonPasskey
	case autherr.EmailSignIn:
		return audit.ReasonAddress
	}
	return audit.ReasonRequest
}

// IsNoted reports whether an event was emitted for the error already: by a guard or a limit.
func IsNoted(err error) bool {
	for _, noted := range []autherr.Type{
		autherr.MissingCSRF, autherr.TooManyRequests, autherr.TooManyFailures, autherr.Challenge,
	} {
		if errors.Is(err, noted) {
			return true
		}
	}
	return false
}

// OfCall returns the outcome of a call to a store, a provider or a service.
func OfCall(ctx context.Context, err error) observe.Outcome {
	var refusal *oauth.Refusal
	var unanswered *upstream.Error
	var ours *autherr.Error
	switch {
	case err == nil:
		return observe.OK
	case errors.Is(err, store.ErrNotFound):
		return observe.Absent
	case errors.Is(err, store.ErrConflict):
		return observe.Conflict
	case errors.As(err, &refusal), errors.Is(err, challenge.ErrRefused):
		return observe.Refused
	case errors.Is(ctx.Err(), context.Canceled):
		return observe.Canceled
	case errors.Is(err, store.ErrUnavailable), errors.Is(err, context.DeadlineExceeded), errors.As(err, &unanswered):
		return observe.Unavailable
	case errors.As(err, &ours):
		if outcome, _ := Of(err, false); outcome == audit.Refused {
			return observe.Refused
		}
	}
	return observe.Failed
}
