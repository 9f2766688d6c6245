package core

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// prove marks the address of a user as verified. If alone is true, the sessions that the user has had so far end: those
// in the store with this call, those in cookies by endEarlier after the commit.
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
	if known.EmailVerified.IsZero() {
		known.EmailVerified = w.now()
	}
	known, err := present(w.tx.UpdateUser(ctx, known))
	if err != nil {
		return nil, err
	}
	w.announce(func() {
		w.events.updatedUser(ctx, w.at, known)
		w.at.decided(ctx, AuditEmailProved, "", known.ID)
	})
	jwt := w.linker.sessions.config.Strategy == StrategyJWT
	if w.endsEarlier = alone && jwt; !alone || jwt {
		return known, nil
	}
	if lister := w.tx.lister; lister != nil {
		// After the proof is written, so that sessions which begin in between end too.
		if _, err = lister.DeleteSessions(ctx, known.ID); err == nil {
			w.announce(func() { w.at.decided(ctx, AuditSessionsEnded, ReasonProved, known.ID) })
		}
	}
	return known, err
}

// endEarlier ends the sessions in cookies that a user had before the address was verified, if Session.Revocation is on.
// Tokens with the claim emailUnproved end without it; tokens that Auth.js issued do not have the claim.
func (w *writer) endEarlier(ctx context.Context, userID string) error {
	s := w.linker.sessions
	if !w.endsEarlier || s.ended == nil {
		return nil
	}
	if err := s.endUser(ctx, userID, ""); err != nil {
		return errorf(ErrStore, "end the sessions from before an address was verified: %w", err)
	}
	w.at.decided(ctx, AuditSessionsEnded, ReasonProved, userID)
	return nil
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
