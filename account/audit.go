package account

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
)

// auditDone records a successful change in the audit log.
func auditDone(ctx context.Context, c *core.Call, name core.AuditName, session *core.Session) {
	c.Audit(ctx, core.AuditEvent{
		Name: name, Outcome: core.OutcomeOK, UserID: session.UserID, SessionID: session.ID, Methods: session.Methods,
	})
}

// auditRefused records a rejected change in the audit log.
func auditRefused(ctx context.Context, c *core.Call, name core.AuditName, why core.Reason, userID string) {
	c.Audit(ctx, core.AuditEvent{Name: name, Outcome: core.OutcomeRefused, Reason: why, UserID: userID})
}
