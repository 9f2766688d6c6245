package password

import (
	"context"
	"errors"
	"log/slog"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// endings end what a password that is no longer the user's may have begun.
type endings struct {
	auth    *core.Auth
	records store.RecordStore
	log     *slog.Logger
}

// sessions ends all sessions of a user, where something can end them.
func (e *endings) sessions(ctx context.Context, userID string) error {
	_, err := e.auth.EndSessions(ctx, userID, core.EndOptions{})
	return e.orGoOn(ctx, err)
}

// others ends the visitor's other sessions, where something can end them.
func (e *endings) others(ctx context.Context, c *core.Call) error {
	_, err := c.EndOthers(ctx)
	return e.orGoOn(ctx, err)
}

// orGoOn passes over the error of a configuration in which sessions cannot be ended, such as encrypted cookies without
// revocation: that is the application's choice, which the log tells.
func (e *endings) orGoOn(ctx context.Context, err error) error {
	if errors.Is(err, core.ErrInvalidConfig) || errors.Is(err, core.ErrMissingStoreMethods) {
		e.log.WarnContext(ctx, "password: the sessions of a user go on, as nothing can end them", "error", err)
		return nil
	}
	return err
}

// links ends the links to choose a password that were sent, and remembered devices. The log tells when it fails, and
// nothing is undone.
func (e *endings) links(ctx context.Context, userID string) {
	for _, kind := range []string{kindReset, kindDevice} {
		if _, err := e.records.DeleteUserRecords(ctx, userID, kind); err != nil {
			e.log.ErrorContext(ctx, "password: records outlived a changed password", "user", userID, "kind", kind, "error", err)
		}
	}
}
