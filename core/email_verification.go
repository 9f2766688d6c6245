package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// ProvesEmail says that the part proves addresses: it sends links or codes to them, and calls ProveEmail. Session
// tokens of users without a proved address are marked then, so that they end with the proof.
func (h *Host) ProvesEmail() {
	h.attaching("ProvesEmail")
	h.parts.proves = true
}

// ProveEmail notes that the owner of an address, which is the user's, reads its mailbox, as a link or code that was
// sent there shows, outside of a request; in one it is [Call.ProveEmail].
func (h *Host) ProveEmail(ctx context.Context, userID, address string) error {
	v := h.Auth.site.unsettled(&Request{})
	_, err := h.parts.prove(ctx, &v, userID, address)
	return err
}

// ProveEmail notes that the visitor reads the mailbox of an address, which is the user's, as a link or code that was
// sent there shows. Where the address was proved before, nothing happens. Else it is proved from now on, and what a
// stranger may have put there before goes: the accounts and passkeys of the user that nobody has vouched for under this
// very address, and, but where all accounts were vouched for, the sessions that the user has. Sign the visitor in
// afterwards.
//
// [ErrNotFound]: there is no such user. [ErrConflict]: they have another address by now, of which nothing is proved;
// addresses are compared as they are stored. An error of type [ErrMissingStoreMethods]: the store can list no accounts,
// or no sessions, so that what goes cannot be found. The part has to call [Host.ProvesEmail] in Attach.
//
// A visitor who is nobody's yet needs none of this: [Call.SignIn] with an Account of type [TypeEmail] finds or makes
// the user of the address, by the rules of a sign-in link (docs/accounts.md).
func (c *Call) ProveEmail(ctx context.Context, userID, address string) error {
	unlinked, err := c.parts.prove(ctx, &c.in.arrival, userID, address)
	if err == nil {
		c.proved, c.unlinked = userID, unlinked
	}
	return err
}

// prove returns the sign-in methods that it removed.
func (ps *parts) prove(ctx context.Context, v *arrival, userID, address string) ([]SignInMethod, error) {
	l := ps.entry.linker
	if err := ps.canProve(); err != nil {
		return nil, err
	}
	w := l.writer(v, "")
	proved := false
	err := w.atomically(ctx, func(ctx context.Context) (err error) {
		w.unlinked = nil // a store may begin again
		proved, err = w.proveAlone(ctx, userID, address)
		return err
	})
	if err == nil && proved {
		err = ps.afterProof(ctx, w, userID)
	}
	switch {
	case err == nil:
		return w.unlinked, nil
	case errors.Is(err, ErrNotFound), errors.Is(err, errMoved):
		return nil, err
	case errors.Is(err, ErrConflict): // two writers of the store, and nothing that the address says
		return nil, errorf(ErrStore, "prove an address: %v", err)
	}
	return nil, asError(err, ErrStore)
}

// canProve checks what a verification needs.
func (ps *parts) canProve() error {
	l := ps.entry.linker
	switch {
	case !ps.proves:
		return errors.New("core: ProveEmail: the part has not said that it proves addresses: call Host.ProvesEmail in Attach")
	case l.store.Store == nil:
		return errorf(ErrMissingStore, "ProveEmail needs a Store")
	case l.store.accounts == nil && l.accountsOpen:
		return errorf(ErrMissingStoreMethods, "ProveEmail needs a Store that is a store.AccountStore too "+
			"(package core/store)")
	case l.store.lister == nil && l.sessions.config.Strategy == StrategyDatabase:
		return errorf(ErrMissingStoreMethods, "ProveEmail needs a Store that is a store.SessionLister too "+
			"(package core/store)")
	}
	return nil
}

// errMoved is the answer where a user has another address than the one that was proved.
var errMoved = fmt.Errorf("core: ProveEmail: the user has another address by now: %w", ErrConflict)

// proveAlone proves the address of a user, and takes away what nobody has vouched for. false: it was proved before.
func (w *writer) proveAlone(ctx context.Context, userID, address string) (bool, error) {
	known, err := present(w.tx.User(ctx, userID))
	switch {
	case err != nil:
		return false, err
	case address == "":
		return false, errors.New("core: ProveEmail: there is no address that could be proved")
	case known.Email != address:
		return false, errMoved
	case !known.EmailVerified.IsZero():
		return false, nil
	}
	linked, err := w.tx.linked(ctx, known)
	if err != nil {
		return false, err
	}
	alone := w.ways(w.tx, linked, known) != vouchedWays
	if err := w.unlinkStrangers(ctx, w.tx, known, linked); err != nil {
		return false, err
	}
	_, err = w.prove(ctx, &identity{account: &Account{Type: TypeCredentials}}, visitor{}, known, alone)
	return true, err
}

// unlinkStrangers unlinks the accounts of a user that were not vouched for under the user's address, and removes the
// passkeys that they open.
func (w *writer) unlinkStrangers(ctx context.Context, s stores, u *User, linked []*Account) error {
	kept, passkeys := map[string]bool{}, false
	for _, a := range linked {
		if SameMailbox(a.EmailProved, u.Email) {
			kept[a.ProviderAccountID] = true
			continue
		}
		passkeys = passkeys || a.Type == TypeWebAuthn
		err := guard("Store.UnlinkAccount", func() error {
			return s.accounts.UnlinkAccount(ctx, a.Provider, a.ProviderAccountID)
		})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		w.unlinked = append(w.unlinked, w.parts.unlinkedMethod(a))
	}
	if !passkeys || s.passkeys == nil || s.unkey == nil {
		return nil
	}
	return removePasskeys(ctx, s, u.ID, kept)
}

// removePasskeys removes the passkeys of a user but those that the accounts with these IDs at their providers open.
func removePasskeys(ctx context.Context, s stores, userID string, kept map[string]bool) error {
	keys, err := guarded("Store.Authenticators", func() ([]*store.Authenticator, error) {
		return s.passkeys.Authenticators(ctx, userID)
	})
	if err != nil {
		return err
	}
	for _, k := range keys {
		if kept[k.ProviderAccountID] {
			continue
		}
		err := guard("Store.DeleteAuthenticator", func() error {
			return s.unkey.DeleteAuthenticator(ctx, k.CredentialID)
		})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// afterProof looks once more, now that other requests can read the proof: an account that one of them has linked in the
// meantime goes too, and one that is linked from now on is taken back by the request that links it.
func (ps *parts) afterProof(ctx context.Context, w *writer, userID string) error {
	known, err := guarded("Store.User", func() (*User, error) { return present(w.store.User(ctx, userID)) })
	if err != nil {
		return err
	}
	linked, err := w.store.linked(ctx, known)
	if err != nil {
		return err
	}
	if err := w.unlinkStrangers(ctx, w.store, known, linked); err != nil {
		return err
	}
	for _, m := range w.unlinked {
		kind := LetterAccountUnlinked
		if m.Passkey {
			kind = LetterPasskeyRemoved
		}
		ps.notify(ctx, w.at, kind, known, m.Provider)
	}
	return w.endEarlier(ctx, userID)
}

// unlinkedMethod is the sign-in method of an account that a verification removes.
func (ps *parts) unlinkedMethod(a *Account) SignInMethod {
	m := ps.accountMethod(a)
	m.Passkey = a.Type == TypeWebAuthn
	return m
}

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
