package core

import (
	"context"
	"fmt"
	"net/netip"
	"time"
)

// Attempt is what a Limit callback is asked about.
type Attempt string

// The attempts that guess something, or cost something.
const (
	AttemptCredentials Attempt = "credentials"      // fields are about to be checked
	AttemptEmail       Attempt = "email"            // a sign-in link is about to be sent
	AttemptEmailToken  Attempt = "email-token"      // a mailed token is about to be redeemed
	AttemptWebAuthn    Attempt = "webauthn-options" // a passkey challenge, with an e-mail or without
)

// LimitParams is an attempt that is about to be made.
type LimitParams struct {
	Attempt Attempt
	// Provider is the provider's ID.
	Provider string
	// Identifier is whose sign-in is attempted: the e-mail address in its canonical form, as the link has it for a mailed token; for
	// credentials the text of the first field that is no password, in lower case. Empty when there is none.
	Identifier string
	// Credentials are the fields of the form; nil except for credentials.
	Credentials map[string]string
	// Peer is the address to count: that of the connection's peer or, behind one of TrustedProxies, the one that it
	// forwards; a network of 64 bits for IPv6. Zero: not known.
	Peer netip.Prefix
	// PeerIsVisitor is true when Peer is the visitor's own address, as far as that can be known, and false when it may be that of a
	// proxy, behind which all visitors look the same. With TrustedProxies set: true unless Peer is one of them. Without: true when
	// the connection comes from a public address and the request has none of the headers that proxies add. A visitor who adds one
	// on purpose is not told apart: where no proxy stands in front, say so with a TrustedProxies of 127.0.0.1/32 alone.
	PeerIsVisitor bool
	// Guessable is true for a mailed token of fewer than 20 characters, such as a code of six digits: a stranger can hit
	// on it by trying. False for other attempts.
	Guessable bool
	// Request is the request being answered; its RemoteAddr is the peer's, which may be a proxy.
	Request *Request
}

// tooMany is an attempt that came too soon.
type tooMany struct{ wait time.Duration }

func (e *tooMany) Error() string {
	return fmt.Sprintf("core: the Limit callback asks for %v of patience", e.wait)
}

// limits asks the application, or the limiter of its own, whether an attempt may be made.
type limits struct {
	limit   func(ctx context.Context, p LimitParams) (time.Duration, error) // Callbacks.Limit
	forgive func(ctx context.Context, p LimitParams)                        // Callbacks.Forgive
}

// ask asks the Limit callback. A callback that fails stops the attempt: what it guards must not go on unguarded.
func (l *limits) ask(ctx context.Context, c *call, p LimitParams) error {
	if l.limit == nil {
		return nil
	}
	p = attempt(c, p)
	wait, err := guarded("Limit callback", func() (time.Duration, error) { return l.limit(ctx, p) })
	switch {
	case err != nil:
		return errorf(AuthError, "Limit callback: %w", err)
	case wait > 0:
		return &Error{Type: TooManyRequests, Cause: &tooMany{wait}}
	}
	return nil
}

// right tells the Forgive callback that an attempt was right. A callback that fails is logged and changes nothing.
func (l *limits) right(ctx context.Context, c *call, p LimitParams) {
	if l.forgive == nil {
		return
	}
	p = attempt(c, p)
	if err := guard("Forgive callback", func() error { l.forgive(ctx, p); return nil }); err != nil {
		c.log.failure(ctx, errorf(AuthError, "Forgive callback: %w", err), c.attrs()...)
	}
}

// attempt completes an attempt with the provider and the peer.
func attempt(c *call, p LimitParams) LimitParams {
	p.Provider, p.Request = c.providerID, c.r
	p.Peer, p.PeerIsVisitor = c.peer(c.r)
	return p
}
