package memory

import (
	"context"
	"maps"
	"slices"

	"github.com/latchkey-go/latchkey/core/store"
)

// accountStore implements the account methods of a Store.
type accountStore struct{ *sharedData }

type accountKey struct{ provider, id string }

// LinkAccount implements [store.Store].
func (s *accountStore) LinkAccount(ctx context.Context, a *store.Account) error {
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
func (s *accountStore) UpdateAccount(ctx context.Context, a *store.Account) error {
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
func (s *accountStore) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
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
func (s *accountStore) Accounts(ctx context.Context, userID string) (out []*store.Account, err error) {
	err = s.locked(ctx, func(d *data) error {
		for _, a := range d.accounts {
			if a.UserID == userID {
				out = append(out, copyAccount(a))
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b *store.Account) int {
		if a.Provider != b.Provider {
			return compare(a.Provider, b.Provider)
		}
		return compare(a.ProviderAccountID, b.ProviderAccountID)
	})
	return out, err
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Account implements [store.AccountStore].
func (s *accountStore) Account(ctx context.Context, provider, providerAccountID string) (a *store.Account, err error) {
	err = s.locked(ctx, func(d *data) error {
		a, err = get(d.accounts, accountKey{provider, providerAccountID})
		return err
	})
	return a, err
}
