package core

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/mailboxes"
	"github.com/latchkey-go/latchkey/internal/linking"
)

// facts reads from the store what the rules need, and nothing else. known is the owner of the account, else the user
// who has the address.
func (w *writer) facts(
	ctx context.Context, id *identity, signedIn sessionUser,
) (f linking.Facts, known *User, err error) {
	switch {
	case signedIn.user != nil && signedIn.outdated:
		f.Current = linking.SessionOutdated
	case signedIn.user != nil:
		f.Current = linking.SessionActive
	}
	f.Stale = w.freshLinks > 0 && w.now().Sub(signedIn.authTime) > w.freshLinks
	if f.Means, known, err = w.meansOf(ctx, id, signedIn); err != nil {
		return f, nil, err
	}
	if f.Means == linking.MeansNewAccount && signedIn.user != nil && id.started != flowstate.SameSession {
		return f, known, callbackErrorf(errInvalidCheck, reasonUsed,
			"the sign-in was started under another session: no account is linked")
	}
	switch {
	case f.Means == linking.MeansLink:
		f.Verifies = true
	case f.Means != linking.MeansNewAccount || f.Current != linking.SessionNone:
		return f, known, nil // the address does not matter
	default:
		f.Verifies = id.linksByAddress() && id.verifiedAddress() != ""
	}
	find := mailboxes.FindCanonical
	if id.byOAuth() { // as in Auth.js, with a single lookup
		find = mailboxes.FindFirst
	}
	address, given := id.lookupAddress()
	known, err = find(ctx, w.tx, address, given)
	switch {
	case errors.Is(err, ErrNotFound):
		return f, nil, nil
	case err != nil:
		return f, nil, err
	}
	byAccount := id.account.Type != TypeEmail && id.passkey == nil
	f.Address = linking.AddressVerified
	if known.EmailVerified.IsZero() {
		f.Address = linking.AddressUnverified
	}
	firstVerification := f.Verifies && f.Address == linking.AddressUnverified
	var linked []*Account
	if byAccount || firstVerification {
		if linked, err = w.tx.linked(ctx, known); err != nil {
			return f, nil, err
		}
	}
	f.Listed = byAccount && slices.ContainsFunc(linked, id.isAccount)
	if firstVerification {
		f.CannotEndSessions = w.linker.sessions.config.Strategy == StrategyDatabase && w.tx.lister == nil
		f.Methods = w.otherMethods(w.tx, linked, known)
	}
	return f, known, nil
}

// lookupAddress returns the address that an existing user may have, and the spelling of the provider.
func (id *identity) lookupAddress() (address, given string) {
	if id.oauth != nil {
		given = id.oauth.given
	}
	return or(id.user.Email, id.typed()), given
}

// meansOf returns what the user signs in with, and the owner of the account if there is one.
func (w *writer) meansOf(ctx context.Context, id *identity, signedIn sessionUser) (linking.Means, *User, error) {
	if id.account.Type == TypeEmail {
		return linking.MeansLink, nil, nil
	}
	owner, err := userByAccount(ctx, w.tx, id.account)
	// A passkey label must not belong to two users.
	if errors.Is(err, ErrNotFound) && id.typed() != "" && signedIn.user == nil {
		owner, err = userByAccount(ctx, w.tx, typedAccount(id.account.Provider, id.typed()))
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return linking.MeansNewAccount, nil, nil
	case err != nil:
		return 0, nil, err
	case id.passkey != nil:
		return linking.MeansTakenPasskey, owner, nil
	case signedIn.user != nil && signedIn.user.ID == owner.ID:
		return linking.MeansOwnAccount, owner, nil
	}
	return linking.MeansOtherAccount, owner, nil
}

// otherMethods describes the sign-in methods of a user with these accounts. If the store s cannot list accounts, it
// assumes that there are some, unless no provider of accounts or passkeys is configured.
func (w *writer) otherMethods(s stores, linked []*Account, u *User) linking.Methods {
	if s.accounts == nil && w.accountsOpen {
		return linking.UnvouchedMethods
	}
	found := linking.NoMethods
	for _, a := range linked {
		if !SameMailbox(a.VerifiedEmail, u.Email) {
			return linking.UnvouchedMethods
		}
		found = linking.VouchedMethods
	}
	return found
}

// refusal returns the error for an account that is, or may be, another person's. owner is that user, or nil if unknown.
func refusal(f linking.Facts, id *identity, owner *User) error {
	refused := &audit.Denial{Reason: audit.ReasonNotLinked, Err: errors.New(f.Refusal(id.linksByAddress()))}
	if owner != nil {
		refused.UserID = owner.ID
	}
	if id.account.Type == TypeWebAuthn {
		return NewError(ErrAccountNotLinked, refused)
	}
	return NewError(ErrOAuthAccountNotLinked, refused)
}
