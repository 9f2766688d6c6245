package keyvalue

import (
	"context"

	"github.com/latchkey-go/latchkey/core/store"
)

// accountName is an account in keys and sets.
func accountName(provider, providerAccountID string) string {
	return escaped(provider) + "/" + escaped(providerAccountID)
}

// LinkAccount implements [store.Store]; ErrNotFound when there is no such user.
func (s *Store) LinkAccount(ctx context.Context, a *store.Account) error {
	const operation = "link account"
	document, err := encodeAccount(a, a.UserID)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	name := accountName(a.Provider, a.ProviderAccountID)
	return s.createOwned(ctx, operation, "account", name, escaped(a.UserID), document)
}

// createOwned makes a record that belongs to a user.
func (s *Store) createOwned(ctx context.Context, operation, kind, name, user, document string) error {
	_, err := s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
		values, err := v.get(ctx, key(kind, name), key("user", user))
		switch {
		case err != nil:
			return nil, err
		case values[0].Found:
			return nil, v.free(ctx, values[0])
		case !values[1].Found:
			return nil, store.ErrNotFound
		}
		v.put(key(kind, name), document)
		v.add(key("user-"+kind+"s", user), name)
		return nil, nil
	})
	return err
}

// Account implements [store.AccountStore].
func (s *Store) Account(ctx context.Context, provider, providerAccountID string) (*store.Account, error) {
	return one(ctx, s, "read account", decodeAccount, func(ctx context.Context, v *view) ([]string, error) {
		if impossible(provider, providerAccountID) {
			return nil, store.ErrNotFound
		}
		return found(v.get(ctx, key("account", accountName(provider, providerAccountID))))
	})
}

// UpdateAccount implements [store.AccountStore]. The owner stays.
func (s *Store) UpdateAccount(ctx context.Context, a *store.Account) error {
	const operation = "update account"
	document, err := encodeAccount(a, "")
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	at := key("account", accountName(a.Provider, a.ProviderAccountID))
	_, err = s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
		old, err := found(v.get(ctx, at))
		if err != nil {
			return nil, err
		}
		o, err := decode[owner](old[0])
		if err != nil {
			return nil, err
		}
		v.put(at, ofOwner(document, o.UserID))
		return nil, nil
	})
	return err
}

// UnlinkAccount implements [store.AccountStore].
func (s *Store) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	_, err := s.run(ctx, "unlink account", func(ctx context.Context, v *view) ([]string, error) {
		if impossible(provider, providerAccountID) {
			return nil, store.ErrNotFound
		}
		name := accountName(provider, providerAccountID)
		account, err := found(v.get(ctx, key("account", name)))
		if err != nil {
			return nil, err
		}
		o, err := decode[owner](account[0])
		if err != nil {
			return nil, err
		}
		v.remove(key("account", name))
		v.drop(key("user-accounts", escaped(o.UserID)), name)
		return nil, nil
	})
	return err
}

// Accounts implements [store.AccountStore], ordered by provider and account.
func (s *Store) Accounts(ctx context.Context, userID string) ([]*store.Account, error) {
	return list(ctx, s, "list accounts", decodeAccount, owned("user-accounts", "account", userID))
}
