package password

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// newcomers are made of sign-ups whose address was proved.
type newcomers struct {
	room      *waitingRoom
	passwords *passwords
	users     core.Store
	// transactor and deleter are the store as it has transactions and deletes users; nil where it does not.
	transactor store.Transactor
	deleter    store.UserDeleter
	now        func() time.Time
	log        *slog.Logger
}

// admit makes the user of a sign-up, with their password, and uses the sign-up up: of any number that come with one
// link, one succeeds. The invitation is left for Callbacks.SignIn to read, and taken by the sign-in that it allows.
// core.ErrConflict: the address is somebody's by now. core.ErrNotFound: the sign-up is used, or not invited.
func (n *newcomers) admit(ctx context.Context, w *waiting) (*core.User, error) {
	switch known, err := userByEmail(ctx, n.users, w.Email); {
	case err != nil:
		return nil, err
	case known != nil:
		return nil, core.ErrConflict
	}
	if tx := n.transactor; tx != nil {
		return n.createAtOnce(ctx, tx, w)
	}
	if err := n.room.use(ctx, w); err != nil {
		return nil, err
	}
	return n.createInTurn(ctx, w)
}

// createAtOnce uses the sign-up up and writes user and password in one transaction: a process that ends in between has
// done nothing, and the link works again.
func (n *newcomers) createAtOnce(ctx context.Context, tx store.Transactor, w *waiting) (user *core.User, err error) {
	err = tx.InTransaction(ctx, func(ctx context.Context, inside core.Store) error {
		records, ok := inside.(store.RecordStore)
		if !ok {
			return errors.New("password: the store has no records inside a transaction")
		}
		if err := n.room.in(records).use(ctx, w); err != nil {
			return err
		}
		if user, err = n.create(ctx, w, inside, core.NewID()); err != nil {
			return err
		}
		return give(ctx, w, user, n.passwords.in(records))
	})
	return user, err
}

// createInTurn writes the user and then the password. When either fails, be it by a panic of the store, no user is left
// and the link works again, but where the address is somebody's by now. A user whose making was not answered is found
// by the ID that was asked for, where the store makes none of its own.
func (n *newcomers) createInTurn(ctx context.Context, w *waiting) (user *core.User, err error) {
	over, id := false, core.NewID()
	defer func() {
		if over {
			return
		}
		n.unmake(ctx, id)
		n.room.links.restore(ctx, w.record)
	}()
	if user, err = n.create(ctx, w, n.users, id); err != nil {
		over = errors.Is(err, core.ErrConflict)
		return nil, err
	}
	id = user.ID
	if err = give(ctx, w, user, n.passwords); err != nil {
		return user, err
	}
	over = true
	return user, nil
}

// create writes the user of a sign-up, with an ID for stores that make none of their own.
func (n *newcomers) create(ctx context.Context, w *waiting, users core.Store, id string) (*core.User, error) {
	user, err := users.CreateUser(ctx, &core.User{
		ID: id, Email: w.Email, Name: w.Name, EmailVerified: n.now(),
	})
	if err != nil {
		return nil, fmt.Errorf("password: make the user: %w", err)
	}
	return user, nil
}

// give writes the password of a new user. Its error is never core.ErrConflict, which is that of an address.
func give(ctx context.Context, w *waiting, user *core.User, to *passwords) error {
	err := to.set(ctx, user.ID, w.Hash, false, nil)
	if errors.Is(err, core.ErrConflict) {
		return errors.New("password: set the password: a user who was just made has one")
	}
	if err != nil {
		return fmt.Errorf("password: set the password: %w", err)
	}
	return nil
}

// unmake deletes a user who has no password: nobody could sign in as them, nor sign up with the address again.
// The store may have made none.
func (n *newcomers) unmake(ctx context.Context, id string) {
	if n.deleter == nil {
		return
	}
	err := n.deleter.DeleteUser(context.WithoutCancel(ctx), id)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		n.log.ErrorContext(ctx, "password: a user without a password is left", "user", id, "error", err)
	}
}
