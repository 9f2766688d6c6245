package core

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// tooMany is an attempt that came too soon.
type tooMany struct{ wait time.Duration }

func (e *tooMany) Error() string {
	return fmt.Sprintf("core: the Limit callback asks for %v of patience", e.wait)
}

// seconds is the wait in whole seconds, for Retry-After.
func (e *tooMany) seconds() string {
	return strconv.FormatInt(int64((e.wait+time.Second-1)/time.Second), 10)
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
		return errorf(ErrAuth, "Limit callback: %w", err)
	case wait > 0:
		c.audit.note(ctx, &c.arrival, AuditEvent{
			Name: AuditLimit, Outcome: OutcomeRefused, Attempt: p.Attempt, Subject: p.Identifier,
		})
		return &Error{Type: ErrTooManyRequests, Cause: &tooMany{wait}}
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
		c.log.failure(ctx, errorf(ErrAuth, "Forgive callback: %w", err), c.attrs()...)
	}
}

// attempt completes an attempt with the provider and the peer.
func attempt(c *call, p LimitParams) LimitParams {
	p.Provider, p.Request = c.providerID, c.r
	p.Peer, p.PeerIsVisitor = c.peer(c.r)
	return p
}
