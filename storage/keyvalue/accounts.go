package keyvalue

import (
	"context"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
)

// accountName returns the name of an account in keys and sets.
func accountName(provider, providerAccountID string) string {
	return escaped(provider) + "/" + escaped(providerAccountID)
}

// LinkAccount implements [store.Store]. It returns ErrNotFound if the user does not exist.
func (s *Store) LinkAccount(ctx context.Context, a *store.Account) error {
	const operation = "link account"
	document, err := encodeAccount(a, a.UserID)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	name := accountName(a.Provider, a.ProviderAccountID)
	return s.createOwned(ctx, operation, "account", name, escaped(a.UserID), document)
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

// UpdateAccount implements [store.AccountStore]. It does not change the owner.
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

// Accounts implements [store.AccountStore]. The list is ordered by provider and account ID. If the database has lost
// the record of an account, the list contains the account with its keys only: it still belongs to the user, and
// LinkAccount creates the record again.
func (s *Store) Accounts(ctx context.Context, userID string) ([]*store.Account, error) {
	const set = "user-accounts"
	read := func(ctx context.Context, v *view) (out []string, err error) {
		if impossible(userID) {
			return nil, nil
		}
		in := key(set, escaped(userID))
		err = v.pages(ctx, in, pageSize, func(names []string) error {
			values, err := v.peek(ctx, keys("account", names)...)
			if err != nil {
				return err
			}
			for i, value := range values {
				text := value.Text
				if !value.Found {
					if text, err = v.lostAccount(ctx, userID, in, names[i]); err != nil {
						return err
					}
				}
				if text != "" {
					out = append(out, text)
				}
			}
			return nil
		})
		return out, err
	}
	return list(ctx, s, "list accounts", decodeAccount, read)
}

// lostAccount returns the account with this name in a user's set, if its record is lost. The result is empty if the
// account has been unlinked.
func (v *view) lostAccount(ctx context.Context, userID, set, name string) (string, error) {
	provider, id, ok := strings.Cut(name, "/")
	provider, plain := unescaped(provider)
	id, plainID := unescaped(id)
	if !ok || !plain || !plainID {
		return "", nil
	}
	at := key("account", name)
	delete(v.known, at)
	got, err := v.read(ctx, Query{Keys: []string{at}, Sets: []Page{{Set: set, After: before(name), Limit: 1}}})
	if err != nil || got.Values[0].Found {
		return got.Values[0].Text, err
	}
	if !slices.Contains(got.Names[0], name) {
		return "", nil
	}
	return encodeAccount(&store.Account{Provider: provider, ProviderAccountID: id}, userID)
}
