package main

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
)

// row is a row of your users table.
type row struct {
	Email, Password string
	Confirmed       bool
}

func move(ctx context.Context, to core.Store, passwords *password.Provider, r row) error {
	email, err := core.NormalizeEmail(r.Email)
	if err != nil {
		return err
	}
	user := &core.User{ID: core.NewID(), Email: email}
	if r.Confirmed {
		user.EmailVerified = time.Now()
	}
	user, err = to.CreateUser(ctx, user)
	if errors.Is(err, core.ErrConflict) { // moved before, perhaps without the password
		user, err = to.UserByEmail(ctx, email)
	}
	if err != nil {
		return err
	}
	if err := passwords.Import(ctx, user.ID, r.Password); !errors.Is(err, core.ErrConflict) {
		return err
	}
	return nil
}
