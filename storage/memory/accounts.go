package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/latchkey-go/latchkey/core/store"
)

type accountKey struct{ provider, id string }

// LinkAccount implements [store.Store].
func (s *Store) LinkAccount(ctx context.Context, a *store.Account) error {
	return s.locked(ctx, func(d *data) error {
		key := accountKey{a.Provider, a.ProviderAccountID}
		if _, taken := d.accounts[key]; taken {
			return store.ErrConflict
		}
		if _, err := get(d.users, a.UserID); err != nil {
			return err
		}
		d.accounts[key] = *copyAccount(*a)
		return nil
	})
}

func copyAccount(a store.Account) *store.Account {
	a.Extra = maps.Clone(a.Extra)
	a.ExpiresIn = 0 // belongs to the token response, not to the account
	return &a
}

// UpdateAccount implements [store.AccountStore].
func (s *Store) UpdateAccount(ctx context.Context, a *store.Account) error {
	return s.locked(ctx, func(d *data) error {
		key := accountKey{a.Provider, a.ProviderAccountID}
		old, err := get(d.accounts, key)
		if err != nil {
			return err
		}
		row := copyAccount(*a)
		row.UserID = old.UserID
		d.accounts[key] = *row
		return nil
	})
}

// UnlinkAccount implements [store.AccountStore].
func (s *Store) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	return s.locked(ctx, func(d *data) error {
		key := accountKey{provider, providerAccountID}
		if _, err := get(d.accounts, key); err != nil {
			return err
		}
		delete(d.accounts, key)
		return nil
	})
}

// Accounts implements [store.AccountStore]. The list is ordered by provider and account ID.
func (s *Store) Accounts(ctx context.Context, userID string) (out []*store.Account, err error) {
	err = s.locked(ctx, func(d *data) error {
		for _, a := range d.accounts {
			if a.UserID == userID {
				out = append(out, copyAccount(a))
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b *store.Account) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ProviderAccountID, b.ProviderAccountID))
	})
	return out, err
}

// Account implements [store.AccountStore].
func (s *Store) Account(ctx context.Context, provider, providerAccountID string) (a *store.Account, err error) {
	err = s.locked(ctx, func(d *data) error {
		a, err = get(d.accounts, accountKey{provider, providerAccountID})
		return err
	})
	return a, err
}
