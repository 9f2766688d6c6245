package passkeys

import (
	"context"
	"errors"
	"fmt"

	"github.com/latchkey-go/latchkey/core/internal/mailboxes"
	"github.com/latchkey-go/latchkey/core/store"
	options "github.com/latchkey-go/latchkey/internal/passkey"
)

// Stores reads the users and their passkeys.
type Stores struct {
	Users    store.Store
	Passkeys store.AuthenticatorStore
	Accounts store.AccountStore // nil if the store cannot read accounts
}

// Described lists the passkeys of a user.
func (s *Stores) Described(ctx context.Context, userID string) ([]options.Descriptor, error) {
	list, err := s.Passkeys.Authenticators(ctx, userID)
	if err != nil {
		return nil, err
	}
	out := make([]options.Descriptor, 0, len(list))
	for _, a := range list {
		d, err := options.Describe(a.CredentialID, a.Transports)
		if err != nil {
			return nil, errors.New("Authenticator.CredentialID of a stored passkey is not in standard base64")
		}
		out = append(out, d)
	}
	return out, nil
}

// Owner stores the signature counter of a used passkey, and returns its user and its account with a provider.
func (s *Stores) Owner(
	ctx context.Context, provider string, used *store.Authenticator, counter uint32,
) (user *store.User, account *store.Account, err error) {
	if err := s.Passkeys.UpdateAuthenticatorCounter(ctx, used.CredentialID, counter); err != nil {
		return nil, nil, err
	}
	if s.Accounts == nil { // the store can only find users by account
		if user, err = s.Users.UserByAccount(ctx, provider, used.ProviderAccountID); err != nil {
			return nil, nil, fmt.Errorf("owner of the passkey: %w", err)
		}
		return user, &store.Account{
			UserID: user.ID, Type: store.TypeWebAuthn, Provider: provider, ProviderAccountID: used.ProviderAccountID,
		}, nil
	}
	if account, err = s.Accounts.Account(ctx, provider, used.ProviderAccountID); err != nil {
		return nil, nil, fmt.Errorf("account of the passkey: %w", err)
	}
	if user, err = s.Users.User(ctx, account.UserID); err != nil {
		return nil, nil, fmt.Errorf("owner of the passkey: %w", err)
	}
	return user, account, nil
}

// Typed returns the user of an address that an unauthenticated user has typed as given, and whether the store has them.
// With labels, the address may also be the label of a user's passkeys: see [Ceremony].Typed.
func (s *Stores) Typed(
	ctx context.Context, provider, address, given string, labels bool,
) (user *store.User, exists bool, err error) {
	if address == "" {
		return nil, false, nil
	}
	user, err = mailboxes.FindCanonical(ctx, s.Users, address, given)
	if errors.Is(err, store.ErrNotFound) && labels {
		user, err = s.Users.UserByAccount(ctx, provider, address)
	}
	if errors.Is(err, store.ErrNotFound) {
		return &store.User{Email: address}, false, nil
	}
	return user, err == nil, err
}

// Add stores a verified passkey and its account for a new user. The error is store.ErrConflict if a user has the
// passkey.
func (s *Stores) Add(ctx context.Context, made store.Authenticator, account *store.Account, userID string) error {
	switch _, err := s.Users.UserByAccount(ctx, account.Provider, account.ProviderAccountID); {
	case err == nil:
		return store.ErrConflict
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	account = account.Clone()
	account.UserID, made.UserID = userID, userID
	if err := s.Users.LinkAccount(ctx, account); err != nil {
		return err
	}
	return s.Passkeys.CreateAuthenticator(ctx, &made)
}
