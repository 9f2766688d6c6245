// Package emailproof has the steps of the verification of a user's address: the user has followed a link, or typed a
// code, that was sent to it.
//
// An attacker may have created the user with another person's address, to keep access after its owner signs in.
// Therefore a verification removes the sign-in methods that no provider has vouched for.
package emailproof

import (
	"context"
	"errors"
	"fmt"

	"github.com/latchkey-go/latchkey/core/internal/mailboxes"
	"github.com/latchkey-go/latchkey/core/store"
)

// ErrChanged says that the user now has another address than the one that was verified.
var ErrChanged = fmt.Errorf("core: MarkEmailVerified: the user has another address now: %w", store.ErrConflict)

// Needed reports whether the address of a user must be marked as verified, or was before.
func Needed(u *store.User, address string) (bool, error) {
	switch {
	case address == "":
		return false, errors.New("core: MarkEmailVerified: address is empty")
	case u.Email != address:
		return false, ErrChanged
	}
	return u.EmailVerified.IsZero(), nil
}

// Methods are the sign-in methods in the store. Passkeys and Deleter may be nil.
type Methods struct {
	Accounts store.AccountStore
	Passkeys store.AuthenticatorStore
	Deleter  store.AuthenticatorDeleter
}

// Remove unlinks the accounts of a user whose provider has not vouched for the user's address, and deletes the passkeys
// of these accounts. It returns the accounts.
func (m *Methods) Remove(ctx context.Context, u *store.User, linked []*store.Account) ([]*store.Account, error) {
	var removed []*store.Account
	kept, passkeys := map[string]bool{}, false
	for _, a := range linked {
		if mailboxes.Same(a.VerifiedEmail, u.Email) {
			kept[a.ProviderAccountID] = true
			continue
		}
		passkeys = passkeys || a.Type == store.TypeWebAuthn
		err := m.Accounts.UnlinkAccount(ctx, a.Provider, a.ProviderAccountID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return removed, err
		}
		removed = append(removed, a)
	}
	if !passkeys || m.Passkeys == nil || m.Deleter == nil {
		return removed, nil
	}
	return removed, m.removePasskeys(ctx, u.ID, kept)
}

// removePasskeys deletes the passkeys of a user, except those of the account IDs in kept.
func (m *Methods) removePasskeys(ctx context.Context, userID string, kept map[string]bool) error {
	keys, err := m.Passkeys.Authenticators(ctx, userID)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if kept[k.ProviderAccountID] {
			continue
		}
		err := m.Deleter.DeleteAuthenticator(ctx, k.CredentialID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}
