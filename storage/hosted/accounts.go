package hosted

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/store"
)

func (s *Store) account(
	ctx context.Context, v *view, provider, providerAccountID string, columns ...string,
) (record, error) {
	if impossible(provider, providerAccountID) {
		return nil, store.ErrNotFound
	}
	filter := map[string]any{"provider": provider, "providerAccountId": providerAccountID}
	return first(v.query(ctx, s.tables.accounts, filter, columns...))
}

// LinkAccount implements [store.Store]. It returns ErrNotFound if the user does not exist.
func (s *Store) LinkAccount(ctx context.Context, a *store.Account) error {
	const operation = "link account"
	fields, err := encodeAccount(a)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	provider, account, user := a.Provider, a.ProviderAccountID, a.UserID
	_, err = s.run(ctx, operation, func(ctx context.Context, v *view) ([]record, error) {
		switch _, err := s.account(ctx, v, provider, account); {
		case err == nil:
			return nil, store.ErrConflict
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
		if _, err := v.byID(ctx, s.tables.users, user); err != nil {
			return nil, err
		}
		id := recordID("account", provider, account)
		fields["user"] = linkTo(user)
		v.insert(s.tables.accounts, id, fields)
		v.insert(s.tables.usersAccounts, id, record{"user": linkTo(user), "account": linkTo(id)})
		return nil, nil
	})
	return err
}

// Account implements [store.AccountStore].
func (s *Store) Account(ctx context.Context, provider, providerAccountID string) (*store.Account, error) {
	return one(ctx, s, "read account", decodeAccount, func(ctx context.Context, v *view) ([]record, error) {
		r, err := s.account(ctx, v, provider, providerAccountID)
		return []record{r}, err
	})
}

// UpdateAccount implements [store.AccountStore]. It does not change the owner.
func (s *Store) UpdateAccount(ctx context.Context, a *store.Account) error {
	const operation = "update account"
	fields, err := encodeAccount(a)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	provider, account := a.Provider, a.ProviderAccountID
	_, err = s.run(ctx, operation, func(ctx context.Context, v *view) ([]record, error) {
		old, err := s.account(ctx, v, provider, account)
		if err == nil {
			v.overwrite(s.tables.accounts, old, fields)
		}
		return nil, err
	})
	return err
}

// UnlinkAccount implements [store.AccountStore].
func (s *Store) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	_, err := s.run(ctx, "unlink account", func(ctx context.Context, v *view) ([]record, error) {
		account, err := s.account(ctx, v, provider, providerAccountID)
		if err != nil {
			return nil, err
		}
		return nil, s.removeJoined(ctx, v, s.tables.usersAccounts, "account.id", s.tables.accounts, account.id())
	})
	return err
}

// removeJoined deletes a record and the join records that connect it to its user.
func (s *Store) removeJoined(ctx context.Context, v *view, joins, link, table, id string) error {
	list, err := v.query(ctx, joins, map[string]any{link: id})
	for _, join := range list {
		v.remove(joins, join.id())
	}
	v.remove(table, id)
	return err
}

// Accounts implements [store.AccountStore]. The list is ordered by provider and account ID.
func (s *Store) Accounts(ctx context.Context, userID string) ([]*store.Account, error) {
	out, err := list(ctx, s, "list accounts", decodeAccount, s.owned(s.tables.accounts, userID))
	slices.SortFunc(out, func(a, b *store.Account) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ProviderAccountID, b.ProviderAccountID))
	})
	return out, err
}

// owned reads the records of a table that belong to a user.
func (s *Store) owned(table, userID string) step {
	return func(ctx context.Context, v *view) ([]record, error) {
		if !possibleID(userID) {
			return nil, nil
		}
		return v.query(ctx, table, map[string]any{"user.id": userID})
	}
}
