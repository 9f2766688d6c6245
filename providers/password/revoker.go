package password

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// revoker ends the sessions, links and remembered devices of a password that was replaced.
type revoker struct {
	auth    *core.Auth
	records store.RecordStore
	log     *slog.Logger
}

// sessions ends all sessions of a user, if the configuration allows it.
func (e *revoker) sessions(ctx context.Context, userID string) error {
	_, err := e.auth.EndSessions(ctx, userID, core.EndOptions{})
	return e.ignoreUnsupported(ctx, err)
}

// others ends the user's other sessions, if the configuration allows it.
func (e *revoker) others(ctx context.Context, c *core.ActionRequest) error {
	_, err := c.EndOtherSessions(ctx)
	return e.ignoreUnsupported(ctx, err)
}

// ignoreUnsupported logs and ignores the error of a configuration that cannot end sessions, such as encrypted cookies
// without revocation. The application has chosen that.
func (e *revoker) ignoreUnsupported(ctx context.Context, err error) error {
	if errors.Is(err, core.ErrInvalidConfig) || errors.Is(err, core.ErrMissingStoreMethods) {
		e.log.WarnContext(ctx, "password: cannot end the user's sessions: they stay valid until they expire", "error", err)
		return nil
	}
	return err
}

// links deletes the user's reset links and remembered devices. A failure is logged and changes nothing else.
func (e *revoker) links(ctx context.Context, userID string) {
	for _, kind := range []string{kindReset, kindDevice} {
		if _, err := e.records.DeleteUserRecords(ctx, userID, kind); err != nil {
			e.log.ErrorContext(ctx, "password: could not delete records of the old password",
				"user", userID, "kind", kind, "error", err)
		}
	}
}

// disavow removes the password of a user whose owner has not set it, unless it is older than the change. It also
// deletes reset links and remembered devices.
func (e *revoker) disavow(kept *passwords) func(context.Context, *core.ActionRequest, core.SecurityNotice) error {
	return func(ctx context.Context, _ *core.ActionRequest, n core.SecurityNotice) error {
		e.links(ctx, n.UserID)
		if n.Kind != mailkind.PasswordChanged {
			return nil
		}
		p, err := kept.load(ctx, n.UserID)
		if err != nil || p == nil || p.Set.Before(n.At.Add(-time.Minute)) {
			return err
		}
		_, err = e.records.DeleteRecord(ctx, kindPassword, n.UserID)
		if errors.Is(err, core.ErrNotFound) {
			return nil
		}
		return err
	}
}
