package core

import (
	"context"
	"errors"
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

// present refuses the answer "nothing, and no error", which the contract of stores rules out.
func present[T any](v *T, err error) (*T, error) {
	if err == nil && v == nil {
		err = errors.New("the store returned neither a record nor ErrNotFound")
	}
	return v, err
}
