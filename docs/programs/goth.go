package main

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// row is a row of your users table.
type row struct {
	ID, Provider, ProviderID, Name, Email string
}

// database is a store with transactions, like most stores.
type database interface {
	core.Store
	store.Transactor
}

// move returns the user's new ID. It may be called again: user and account are written together or not at all.
func move(ctx context.Context, to database, r row) (id string, err error) {
	switch moved, err := to.UserByAccount(ctx, r.Provider, r.ProviderID); {
	case err == nil:
		return moved.ID, nil
	case !errors.Is(err, core.ErrNotFound):
		return "", err
	}
	email, err := core.NormalizeEmail(r.Email)
	if err != nil {
		email = "" // goth returns the provider's address, which may be empty
	}
	err = to.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
		user, err := tx.CreateUser(ctx, &core.User{ID: core.NewID(), Name: r.Name, Email: email})
		if err != nil {
			return err // core.ErrConflict: another user has this address
		}
		id = user.ID
		return tx.LinkAccount(ctx, &core.Account{
			UserID: user.ID, Type: store.TypeOAuth, Provider: r.Provider, ProviderAccountID: r.ProviderID,
		})
	})
	return id, err
}
