package core

import (
	"context"
)

func userByAccount(ctx context.Context, s Store, account *Account) (*User, error) {
	return guarded("Store.UserByAccount", func() (*User, error) {
		return present(s.UserByAccount(ctx, account.Provider, account.ProviderAccountID))
	})
}

func userByEmail(ctx context.Context, s Store, email string) (*User, error) {
	if email == "" {
		return nil, ErrNotFound
	}
	return guarded("Store.UserByEmail", func() (*User, error) { return present(s.UserByEmail(ctx, email)) })
}
