package secondfactor

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// passkeysMethod is the SecurityNotice.Method of a notice that the user's passkeys became a second factor. Other
// notices have the ID of an authenticator app.
const passkeysMethod = "passkeys"

// disavow reverses a change of the factors that the owner of the account did not make ("This wasn't me"). A factor that
// was added is removed. The recovery codes are deleted, because the attacker has seen those that were shown then; the
// owner can create new ones. The trust in all browsers ends, whatever was changed. A factor that was removed is not
// restored: its secret may be the reason why the owner would remove it.
func (s *handlers) disavow(ctx context.Context, c *core.ActionRequest, n core.SecurityNotice) error {
	if err := s.browsers.forget(ctx, n.UserID); err != nil {
		return err
	}
	switch n.Kind {
	case mailkind.FactorAdded:
		if err := s.disavowFactor(ctx, c, n); err != nil {
			return err
		}
	case mailkind.RecoveryRenewed:
		if n.Method != "" { // the codes of a username
			return nil
		}
	default:
		return nil
	}
	return s.recovery.use(ctx, n.UserID, "")
}

// disavowFactor removes the factor of a notice. It does nothing if the user has removed it.
func (s *handlers) disavowFactor(ctx context.Context, c *core.ActionRequest, n core.SecurityNotice) error {
	remove := s.states.removing(n.Method)
	if n.Method == passkeysMethod {
		remove = func(st *state) error {
			if !st.Passkeys {
				return core.ErrNotFound
			}
			return s.states.switching(false)(st)
		}
	}
	switch _, err := s.states.update(ctx, n.UserID, remove); {
	case errors.Is(err, core.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	c.Audit(ctx, audit.Event{Name: audit.FactorRemoved, Outcome: audit.OK, UserID: n.UserID})
	return nil
}
