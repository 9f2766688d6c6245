package core

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/emailproof"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/internal/linking"
)

// VerifiesEmail declares that the plugin verifies email addresses: it sends links or codes and calls MarkEmailVerified.
// Session tokens of users with an unverified address are then marked, so that they become invalid when the address is
// verified.
func (h *PluginHost) VerifiesEmail() {
	h.attaching("VerifiesEmail")
	h.plugins.proves = true
}

// MarkEmailVerified records that the user has verified their address with a link or code that was sent to it, outside
// of a request. Within a request use [ActionRequest.MarkEmailVerified].
func (h *PluginHost) MarkEmailVerified(ctx context.Context, userID, address string) error {
	v := h.Auth.site.unsettled(&Request{})
	_, err := h.plugins.prove(ctx, &v, userID, address)
	return err
}

// MarkEmailVerified records that the user has verified their address with a link or code that was sent to it. If the
// address was verified before, nothing changes.
//
// Otherwise an attacker may have created the user with another person's address, to keep access after its owner signs
// in. MarkEmailVerified therefore removes all accounts and passkeys whose provider has not vouched for this exact
// address. Unless all accounts were vouched for, it also ends all sessions of the user. Sign the user in afterwards.
//
// The error is [ErrNotFound] if there is no such user. It is [ErrConflict] if the user has another address by now,
// which then stays unverified; addresses are compared exactly. An error of type [ErrMissingStoreMethods]
// means that the store cannot list accounts or sessions, so that MarkEmailVerified cannot find what to remove. The
// plugin must call [PluginHost.VerifiesEmail] in Attach.
//
// If no user has the address yet, MarkEmailVerified is not needed: [ActionRequest.SignIn] with an Account of type
// [TypeEmail] finds or creates the user of the address, by the rules of a sign-in link (docs/accounts.md).
func (c *ActionRequest) MarkEmailVerified(ctx context.Context, userID, address string) error {
	unlinked, err := c.plugins.prove(ctx, &c.in.arrival, userID, address)
	if err == nil {
		c.verified, c.unlinked = userID, unlinked
	}
	return err
}

// prove verifies the address of a user, and returns the sign-in methods that it removed.
func (ps *plugins) prove(ctx context.Context, v *arrival, userID, address string) ([]SignInMethod, error) {
	l := ps.entry.linker
	if err := ps.canProve(); err != nil {
		return nil, err
	}
	w := l.writer(v, "")
	proved := false
	err := w.atomically(ctx, func(ctx context.Context) (err error) {
		w.unlinked = nil // a store may run the transaction again
		proved, err = w.verifyFirst(ctx, userID, address)
		return err
	})
	if err == nil && proved {
		err = ps.recheckAccounts(ctx, w, userID)
	}
	switch {
	case err == nil:
		return w.unlinked, nil
	case errors.Is(err, ErrNotFound), errors.Is(err, emailproof.ErrChanged):
		return nil, err
	case errors.Is(err, ErrConflict): // a write conflict in the store, not a conflict of addresses
		return nil, errorf(ErrStore, "verify an address: %v", err)
	}
	return nil, asError(err, ErrStore)
}

// canProve returns an error if the configuration cannot verify addresses.
func (ps *plugins) canProve() error {
	l := ps.entry.linker
	switch {
	case !ps.proves:
		return errors.New("core: MarkEmailVerified: the plugin must call PluginHost.VerifiesEmail in Attach")
	case l.store.Store == nil:
		return errorf(ErrMissingStore, "MarkEmailVerified needs a Store")
	case l.store.accounts == nil && l.accountsOpen:
		return errorf(ErrMissingStoreMethods, "MarkEmailVerified needs a Store that implements store.AccountStore "+
			"(package core/store)")
	case l.store.lister == nil && l.sessions.config.Strategy == StrategyDatabase:
		return errorf(ErrMissingStoreMethods, "MarkEmailVerified needs a Store that implements store.SessionLister "+
			"(package core/store)")
	}
	return nil
}

// verifyFirst verifies the address of a user, and removes accounts and passkeys that no provider vouched for. It
// returns false if the address was verified before.
func (w *writer) verifyFirst(ctx context.Context, userID, address string) (bool, error) {
	known, err := w.tx.User(ctx, userID)
	if err != nil {
		return false, err
	}
	if needed, err := emailproof.Needed(known, address); err != nil || !needed {
		return false, err
	}
	linked, err := w.tx.linked(ctx, known)
	if err != nil {
		return false, err
	}
	alone := w.otherMethods(w.tx, linked, known) != linking.VouchedMethods
	if err := w.unlinkUnvouched(ctx, w.tx, known, linked); err != nil {
		return false, err
	}
	_, err = w.prove(ctx, &identity{account: &Account{Type: TypeCredentials}}, sessionUser{}, known, alone)
	return true, err
}

// unlinkUnvouched removes the sign-in methods that no provider vouched for; see [emailproof.Methods.Remove].
func (w *writer) unlinkUnvouched(ctx context.Context, s stores, u *User, linked []*Account) error {
	m := &emailproof.Methods{Accounts: s.accounts, Passkeys: s.passkeys, Deleter: s.unkey}
	removed, err := m.Remove(ctx, u, linked)
	for _, a := range removed {
		method := w.plugins.accountMethod(a)
		method.Passkey = a.Type == TypeWebAuthn
		w.unlinked = append(w.unlinked, method)
	}
	return err
}

// recheckAccounts removes unvouched accounts a second time, after the verification is committed. Another request may
// have linked an account in the meantime. A request that links one from now on sees the verification and undoes the
// link itself.
func (ps *plugins) recheckAccounts(ctx context.Context, w *writer, userID string) error {
	known, err := w.store.User(ctx, userID)
	if err != nil {
		return err
	}
	linked, err := w.store.linked(ctx, known)
	if err != nil {
		return err
	}
	if err := w.unlinkUnvouched(ctx, w.store, known, linked); err != nil {
		return err
	}
	for _, m := range w.unlinked {
		kind := mailkind.AccountUnlinked
		if m.Passkey {
			kind = mailkind.PasskeyRemoved
		}
		ps.notify(ctx, w.at, known, SecurityNotice{Kind: kind, UserID: userID, Provider: m.Provider})
	}
	return w.endEarlierSessions(ctx, userID)
}

// prove marks the address of a user as verified. If alone is true, the user's existing sessions end: those in the store
// within this call, those in cookies in endEarlierSessions, after the commit.
func (w *writer) prove(
	ctx context.Context, id *identity, signedIn sessionUser, known *User, alone bool,
) (*User, error) {
	if id.account.Type == TypeEmail && signedIn.session != nil && signedIn.user.ID != known.ID {
		kept := w.linker.sessions.rows.AtRest(signedIn.token)
		_, err := w.sessions.DeleteSession(ctx, kept)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		w.afterCommit(func() {
			w.at.decidedOf(ctx, audit.SessionEnded, audit.ReasonReplaced, signedIn.user.ID, publicID(kept))
		})
	}
	known = known.Clone()
	if known.EmailVerified.IsZero() {
		known.EmailVerified = w.now()
	}
	if err := w.announce(ctx, audit.Event{Name: audit.EmailProved, UserID: known.ID}); err != nil {
		return nil, err
	}
	known, err := w.tx.UpdateUser(ctx, known)
	if err != nil {
		return nil, err
	}
	w.afterCommit(func() {
		w.events.updatedUser(ctx, w.at, known)
		w.at.decided(ctx, audit.EmailProved, "", known.ID)
	})
	jwt := w.linker.sessions.config.Strategy == StrategyJWT
	if w.endsEarlierSessions = alone && jwt; !alone || jwt {
		return known, nil
	}
	if lister := w.tx.lister; lister != nil {
		// Delete after the verification is written, so that sessions which start in between end too.
		if _, err = lister.DeleteSessions(ctx, known.ID); err == nil {
			w.afterCommit(func() { w.at.decided(ctx, audit.SessionsEnded, audit.ReasonProved, known.ID) })
		}
	}
	return known, err
}

// endEarlierSessions ends the sessions in cookies that a user had before the address was verified, if
// Session.Revocation is on. Tokens with the claim emailUnproved become invalid without it. Tokens that Auth.js issued
// do not have the claim.
func (w *writer) endEarlierSessions(ctx context.Context, userID string) error {
	s := w.linker.sessions
	if !w.endsEarlierSessions || s.revoked == nil {
		return nil
	}
	if err := s.all.EndUser(ctx, userID, ""); err != nil {
		return errorf(ErrStore, "end the sessions from before the email verification: %w", err)
	}
	w.at.decided(ctx, audit.SessionsEnded, audit.ReasonProved, userID)
	return nil
}
