// Package challenges verifies the tokens of a CAPTCHA service (package challenge).
package challenges

import (
	"context"
	"errors"
	"net/http"

	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

const (
	// maxRunning is the maximum number of tokens that a process verifies concurrently, so that an attacker cannot use up
	// its memory and connections while the service is slow.
	maxRunning = 64
	// maxVerdict is the maximum size of a response of the service, in bytes.
	maxVerdict = 64 << 10
)

// errBusy is the error of a token that was not verified because too many others are.
var errBusy = errors.New("too many tokens are being verified")

// SkippedError is the error of a service that is unavailable. The request is accepted without a verified token, as
// AllowOutage says.
type SkippedError struct{ Err error }

// Error returns the text for the log.
func (e *SkippedError) Error() string {
	return "the challenge was skipped, its service is unavailable: " + e.Err.Error()
}

// Unwrap returns the error of the service.
func (e *SkippedError) Unwrap() error { return e.Err }

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	challenge.Challenge
	client  *http.Client
	calls   observed.Calls
	running chan struct{}
}

// New returns a verifier. client sends the requests to the service.
func New(c challenge.Challenge, client *http.Client, calls observed.Calls) *Verifier {
	bounded := upstream.New(upstream.Options{HTTP: client, Timeout: challenge.Timeout, MaxBody: maxVerdict})
	return &Verifier{
		Challenge: c, client: &http.Client{Transport: bounded.Transport(upstream.NoRedirects)}, calls: calls,
		running: make(chan struct{}, maxRunning),
	}
}

// Check returns nil if the service accepts the token, and challenge.ErrRefused if it does not. Any other error, also of
// a panic, means that the service is unavailable.
func (v *Verifier) Check(ctx context.Context, p challenge.Params) error {
	select {
	case v.running <- struct{}{}:
		defer func() { <-v.running }()
	default:
		return errBusy
	}
	if len(p.Token) > challenge.MaxToken {
		return challenge.ErrRefused
	}
	p.Client = v.client
	err := v.verify(ctx, p)
	switch {
	case err == nil, errors.Is(err, challenge.ErrRefused):
	case ctx.Err() == nil && v.AllowOutage: // a client that disconnects must not look like an outage
		return &SkippedError{err}
	}
	return err
}

func (v *Verifier) verify(ctx context.Context, p challenge.Params) error {
	ctx, cancel := context.WithTimeout(ctx, challenge.Timeout)
	defer cancel()
	call := observe.Call{Target: observe.Provider, Name: "challenge"}
	return v.calls.Do(ctx, call, func(ctx context.Context) error {
		return panics.Guard("Challenge.Verify", func() error { return v.Verify(ctx, p) })
	})
}
