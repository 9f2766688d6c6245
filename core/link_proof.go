package core

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// prove notes that the address of a user is proved. alone: the sessions that the user had until now end.
func (w *writer) prove(ctx context.Context, id *identity, here visitor, known *User, alone bool) (*User, error) {
	if id.account.Type == TypeEmail && here.session != nil && here.user.ID != known.ID {
		kept := w.linker.sessions.rows.atRest(here.token)
		_, err := w.sessions.DeleteSession(ctx, kept)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		w.announce(func() { w.at.decidedOf(ctx, AuditSessionEnded, ReasonReplaced, here.user.ID, publicID(kept)) })
	}
	known = known.Clone()
	known.EmailVerified = w.now()
	known, err := present(w.tx.UpdateUser(ctx, known))
	if err != nil {
		return nil, err
	}
	w.announce(func() {
		w.events.updatedUser(ctx, w.at, known)
		w.at.decided(ctx, AuditEmailProved, "", known.ID)
	})
	if lister := w.tx.lister; lister != nil && alone && w.linker.sessions.config.Strategy == StrategyDatabase {
		// After the proof is written, so that sessions which begin in between end too.
		if _, err = lister.DeleteSessions(ctx, known.ID); err == nil {
			w.announce(func() { w.at.decided(ctx, AuditSessionsEnded, ReasonProved, known.ID) })
		}
	}
	return known, err
}

// giveUpAddress takes the address from a user who never proved it.
func (w *writer) giveUpAddress(ctx context.Context, known *User) error {
	left := known.Clone()
	left.Email, left.EmailVerified, left.Null = "", time.Time{}, left.Null|store.NullEmail
	left, err := present(w.tx.UpdateUser(ctx, left))
	if err != nil {
		return err
	}
	w.announce(func() {
		w.events.updatedUser(ctx, w.at, left)
		w.at.decided(ctx, AuditEmailChanged, ReasonProved, left.ID)
	})
	return nil
}
