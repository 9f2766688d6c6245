package accounts

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/mailboxes"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/linking"
)

// facts reads from the store what the rules need, and nothing else. known is the owner of the account, else the user
// who has the address.
func (a *Attempt) facts(ctx context.Context, in *SignIn) (f linking.Facts, known *store.User, err error) {
	switch {
	case in.Current.User != nil && in.Current.Outdated:
		f.Current = linking.SessionOutdated
	case in.Current.User != nil:
		f.Current = linking.SessionActive
	}
	f.Stale = a.FreshLinks > 0 && a.Now().Sub(in.Current.AuthTime) > a.FreshLinks
	if f.Means, known, err = a.meansOf(ctx, in); err != nil {
		return f, nil, err
	}
	switch {
	case f.Means == linking.MeansNewAccount && in.Current.User != nil && !in.SameSession:
		return f, known, a.Refused(Refusal{
			OtherSession: true, Text: "the sign-in was started under another session: no account is linked",
		})
	case f.Means == linking.MeansLink:
		f.Verifies = true
	case f.Means != linking.MeansNewAccount || f.Current != linking.SessionNone:
		return f, known, nil // the address does not matter
	default:
		f.Verifies = in.Verifies
	}
	find := mailboxes.FindCanonical
	if in.OAuth { // as in Auth.js, with a single lookup
		find = mailboxes.FindFirst
	}
	address := in.User.Email
	if address == "" {
		address = in.Typed
	}
	known, err = find(ctx, a.tx.Store, address, in.Given)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return f, nil, nil
	case err != nil:
		return f, nil, err
	}
	byAccount := in.Account.Type != store.TypeEmail && in.Passkey == nil
	f.Address = linking.AddressVerified
	if known.EmailVerified.IsZero() {
		f.Address = linking.AddressUnverified
	}
	firstVerification := f.Verifies && f.Address == linking.AddressUnverified
	var linked []*store.Account
	if byAccount || firstVerification {
		if linked, err = a.tx.Linked(ctx, known.ID); err != nil {
			return f, nil, err
		}
	}
	f.Listed = byAccount && slices.ContainsFunc(linked, in.is)
	if firstVerification {
		f.CannotEndSessions = a.StoredSessions && a.tx.SessionLister == nil
		f.Methods = a.otherMethods(a.tx, linked, known)
	}
	return f, known, nil
}

// meansOf returns what the user signs in with, and the owner of the account if there is one.
func (a *Attempt) meansOf(ctx context.Context, in *SignIn) (linking.Means, *store.User, error) {
	if in.Account.Type == store.TypeEmail {
		return linking.MeansLink, nil, nil
	}
	owner, err := a.tx.UserByAccount(ctx, in.Account.Provider, in.Account.ProviderAccountID)
	// A passkey label must not belong to two users.
	if errors.Is(err, store.ErrNotFound) && in.Typed != "" && in.Current.User == nil {
		owner, err = a.tx.UserByAccount(ctx, in.Account.Provider, in.Typed)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return linking.MeansNewAccount, nil, nil
	case err != nil:
		return 0, nil, err
	case in.Passkey != nil:
		return linking.MeansTakenPasskey, owner, nil
	case in.Current.User != nil && in.Current.User.ID == owner.ID:
		return linking.MeansOwnAccount, owner, nil
	}
	return linking.MeansOtherAccount, owner, nil
}

// otherMethods describes the sign-in methods of a user with these accounts. If the store s cannot list accounts, it
// assumes that there are some, unless no provider of accounts or passkeys is configured.
func (a *Attempt) otherMethods(s storecalls.Stores, linked []*store.Account, u *store.User) linking.Methods {
	if s.Accounts == nil && a.Open {
		return linking.UnvouchedMethods
	}
	found := linking.NoMethods
	for _, account := range linked {
		if !mailboxes.Same(account.VerifiedEmail, u.Email) {
			return linking.UnvouchedMethods
		}
		found = linking.VouchedMethods
	}
	return found
}

// refusal returns the error for an account that is, or may be, another person's. owner is that user, or nil if unknown.
func (a *Attempt) refusal(f linking.Facts, in *SignIn, owner *store.User) error {
	r := Refusal{Text: f.Refusal(in.ByAddress), Passkey: in.Account.Type == store.TypeWebAuthn}
	if owner != nil {
		r.UserID = owner.ID
	}
	return a.Refused(r)
}
