package accounts

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/emailproof"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/linking"
	"github.com/latchkey-go/latchkey/internal/sessionid"
)

// Verify marks the address of a user as verified, and removes accounts and passkeys that no provider vouched for. It
// returns the user and the removed accounts, or no user if the address was verified before. After the change it may
// return them with an error.
func (l *Linker) Verify(
	ctx context.Context, userID, address string, e Effects,
) (known *store.User, unlinked []*store.Account, err error) {
	a := l.attempt(e, "")
	proved := false
	err = a.atomically(ctx, func(ctx context.Context) (err error) {
		proved, err = a.verifyFirst(ctx, userID, address)
		return err
	})
	if err != nil || !proved {
		return nil, nil, err
	}
	// Another request may have linked an account in the meantime. A request that links one from now on sees the
	// verification and undoes the link itself.
	if known, err = a.Store.User(ctx, userID); err != nil {
		return nil, nil, err
	}
	linked, err := a.Store.Linked(ctx, known.ID)
	if err == nil {
		err = a.unlinkUnvouched(ctx, a.Store, known, linked)
	}
	if err != nil {
		return nil, nil, err
	}
	return known, a.unlinked, a.endEarlierSessions(ctx, userID)
}

// verifyFirst verifies the address of a user, and removes accounts and passkeys that no provider vouched for. It
// returns false if the address was verified before.
func (a *Attempt) verifyFirst(ctx context.Context, userID, address string) (bool, error) {
	known, err := a.tx.User(ctx, userID)
	if err != nil {
		return false, err
	}
	if needed, err := emailproof.Needed(known, address); err != nil || !needed {
		return false, err
	}
	linked, err := a.tx.Linked(ctx, known.ID)
	if err != nil {
		return false, err
	}
	alone := a.otherMethods(a.tx, linked, known) != linking.VouchedMethods
	if err := a.unlinkUnvouched(ctx, a.tx, known, linked); err != nil {
		return false, err
	}
	_, err = a.verify(ctx, &SignIn{Account: &store.Account{}}, known, alone)
	return true, err
}

// unlinkUnvouched removes the sign-in methods that no provider vouched for: see [emailproof.Methods.Remove].
func (a *Attempt) unlinkUnvouched(
	ctx context.Context, s storecalls.Stores, u *store.User, linked []*store.Account,
) error {
	m := &emailproof.Methods{Accounts: s.Accounts, Passkeys: s.Passkeys, Deleter: s.PasskeyDeleter}
	removed, err := m.Remove(ctx, u, linked)
	a.unlinked = append(a.unlinked, removed...)
	return err
}

// verify marks the address of a user as verified. If alone is true, the user's existing sessions end: those in the
// store within this call, those in cookies in endEarlierSessions, after the commit.
func (a *Attempt) verify(ctx context.Context, in *SignIn, known *store.User, alone bool) (*store.User, error) {
	if c := in.Current; in.Account.Type == store.TypeEmail && c.Session != nil && c.User.ID != known.ID {
		_, err := a.tx.Sessions.DeleteSession(ctx, c.AtRest)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		a.AfterCommit(func() {
			a.Done(ctx, Change{Event: audit.Event{
				Name: audit.SessionEnded, Reason: audit.ReasonReplaced, UserID: c.User.ID,
				SessionID: sessionid.Of(c.AtRest).String(),
			}})
		})
	}
	known = known.Clone()
	if known.EmailVerified.IsZero() {
		known.EmailVerified = a.Now()
	}
	if err := a.AnnounceChange(ctx, audit.Event{Name: audit.EmailProved, UserID: known.ID}); err != nil {
		return nil, err
	}
	known, err := a.tx.UpdateUser(ctx, known)
	if err != nil {
		return nil, err
	}
	a.done(ctx, audit.EmailProved, "", known)
	if a.endsEarlierSessions = alone && !a.StoredSessions; !alone || !a.StoredSessions || a.tx.SessionLister == nil {
		return known, nil
	}
	// Delete after the verification is written, so that sessions which start in between end too.
	if _, err = a.tx.SessionLister.DeleteSessions(ctx, known.ID); err == nil {
		a.done(ctx, audit.SessionsEnded, audit.ReasonProved, known)
	}
	return known, err
}

// endEarlierSessions ends the sessions in cookies that a user had before the address was verified, if they can be
// ended. Tokens that are marked as unverified become invalid without it. Tokens that Auth.js issued are not marked.
func (a *Attempt) endEarlierSessions(ctx context.Context, userID string) error {
	if !a.endsEarlierSessions || a.EndSessions == nil {
		return nil
	}
	if err := a.EndSessions(ctx, userID); err != nil {
		return err
	}
	a.Done(ctx, Change{Event: audit.Event{Name: audit.SessionsEnded, Reason: audit.ReasonProved, UserID: userID}})
	return nil
}
