package core

import (
	"context"
	"errors"
)

// auditGuard notes a request that a guard in front of all actions turned away.
func (c *call) auditGuard(ctx context.Context, err error) {
	switch {
	case c.site == nil || c.audit == nil:
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
