package verdict

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

func TestOf(t *testing.T) {
	t.Parallel()
	cause := errors.New("row 7")
	panicked := panics.Guard("test", func() error { panic("stop") })
	byClient := errormarks.ByClient(cause)
	denied := func(cause error) error { return autherr.New(autherr.AccessDenied, cause) }
	for name, row := range map[string]struct {
		err     error
		remote  bool
		outcome audit.Outcome
		reason  audit.Reason
	}{
		"store unavailable":  {store.Unavailable(cause), true, audit.Failed, audit.ReasonStore},
		"store":              {autherr.New(autherr.Store, cause), true, audit.Failed, audit.ReasonStore},
		"stored session":     {autherr.New(autherr.SessionToken, cause), false, audit.Failed, audit.ReasonStore},
		"panic":              {denied(panicked), true, audit.Failed, audit.ReasonFault},
		"a reason":           {errormarks.Denial(audit.ReasonCode, "x"), true, audit.Refused, audit.ReasonCode},
		"a denial without":   {denied(&audit.Denial{Err: cause}), true, audit.Refused, audit.ReasonDenied},
		"mail":               {autherr.New(autherr.EmailSignIn, cause), false, audit.Failed, audit.ReasonMail},
		"provider":           {cause, true, audit.Failed, audit.ReasonProvider},
		"no provider":        {cause, false, audit.Failed, audit.ReasonFault},
		"failing callback":   {denied(errormarks.ByServer(cause)), true, audit.Failed, audit.ReasonFault},
		"denied":             {autherr.AccessDenied, true, audit.Refused, audit.ReasonDenied},
		"password":           {autherr.CredentialsSignin, false, audit.Refused, audit.ReasonCredentials},
		"passkey of another": {autherr.AccountNotLinked, false, audit.Refused, audit.ReasonNotLinked},
		"account of another": {autherr.OAuthAccountNotLinked, true, audit.Refused, audit.ReasonNotLinked},
		"check":              {autherr.InvalidCheck, true, audit.Refused, audit.ReasonCheck},
		"provider refused": {
			autherr.New(autherr.OAuthCallback, byClient), true, audit.Refused, audit.ReasonProviderRefused,
		},
		"passkey": {autherr.WebAuthnVerification, false, audit.Refused, audit.ReasonPasskey},
		"address": {autherr.New(autherr.EmailSignIn, byClient), false, audit.Refused, audit.ReasonAddress},
		"request": {byClient, true, audit.Refused, audit.ReasonRequest},
	} {
		if outcome, reason := Of(row.err, row.remote); outcome != row.outcome || reason != row.reason {
			t.Errorf("%s: %s, %s", name, outcome, reason)
		}
	}
}

func TestIsNoted(t *testing.T) {
	t.Parallel()
	for kind, want := range map[autherr.Type]bool{
		autherr.MissingCSRF: true, autherr.TooManyRequests: true, autherr.TooManyFailures: true, autherr.Challenge: true,
		autherr.AccessDenied: false, autherr.Auth: false,
	} {
		if got := IsNoted(fmt.Errorf("x: %w", autherr.New(kind, nil))); got != want {
			t.Errorf("%s: %v", string(kind), got)
		}
	}
}

func TestOfCall(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, row := range map[string]struct {
		ctx  context.Context
		err  error
		want observe.Outcome
	}{
		"no error":       {gone, nil, observe.OK},
		"absent":         {gone, fmt.Errorf("read: %w", store.ErrNotFound), observe.Absent},
		"conflict":       {t.Context(), fmt.Errorf("write: %w", store.ErrConflict), observe.Conflict},
		"wrong password": {t.Context(), autherr.New(autherr.CredentialsSignin, nil), observe.Refused},
		"rolled back by a linking rule": {
			t.Context(), fmt.Errorf("undone: %w", autherr.New(autherr.AccountNotLinked, nil)), observe.Refused,
		},
		"an internal error":     {t.Context(), autherr.New(autherr.CallbackRoute, errors.New("x")), observe.Failed},
		"invalid_grant":         {t.Context(), fmt.Errorf("token: %w", &oauth.Refusal{Status: 400}), observe.Refused},
		"client disconnected":   {gone, context.Canceled, observe.Canceled},
		"no answer in time":     {t.Context(), context.DeadlineExceeded, observe.Unavailable},
		"database unavailable":  {t.Context(), store.Unavailable(errors.New("refused")), observe.Unavailable},
		"provider unavailable":  {t.Context(), &upstream.Error{Err: errors.New("refused")}, observe.Unavailable},
		"anything else":         {t.Context(), errors.New("secret"), observe.Failed},
		"canceled by the store": {t.Context(), context.Canceled, observe.Failed},
	} {
		if got := OfCall(row.ctx, row.err); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}
