package account

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
)

// told tells the audit of a change of somebody's account that was made.
func told(ctx context.Context, c *core.Call, name core.AuditName, session *core.Session) {
	c.Audit(ctx, core.AuditEvent{
		Name: name, Outcome: core.OutcomeOK, UserID: session.UserID, SessionID: session.ID, Methods: session.Methods,
	})
}

// denied tells the audit of one that was refused.
func denied(ctx context.Context, c *core.Call, name core.AuditName, why core.Reason, userID string) {
	c.Audit(ctx, core.AuditEvent{Name: name, Outcome: core.OutcomeRefused, Reason: why, UserID: userID})
}
