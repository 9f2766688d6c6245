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

// userCreator creates users from sign-ups with a verified address.
type userCreator struct {
	pending   *signUpStore
	passwords *passwords
	users     core.Store
	// transactor and deleter are nil if the store does not support them.
	transactor store.Transactor
	deleter    store.UserDeleter
	now        func() time.Time
	log        *slog.Logger
}

// of returns the user of a sign-up, with an ID for stores that do not create IDs. It writes nothing.
func (n *userCreator) of(w *storedSignUp) *core.User {
	return &core.User{ID: core.NewID(), Email: w.Email, Name: w.Name, EmailVerified: n.now()}
}

// check returns core.ErrConflict if the address of a sign-up belongs to a user by now, and core.ErrNotFound if it is
// not invited. It is called before Callbacks.SignIn, which is not asked about a user that cannot be created.
func (n *userCreator) check(ctx context.Context, w *storedSignUp) error {
	switch known, err := userByEmail(ctx, n.users, w.typed()); {
	case err != nil:
		return err
	case known != nil:
		return core.ErrConflict
	}
	admitted, err := n.pending.admits(ctx, w.Email)
	if err == nil && !admitted {
		err = core.ErrNotFound
	}
	return err
}

// admit creates the user of a sign-up with their password, and uses up the link: of concurrent requests with one link,
// one succeeds. It does not use up the invitation. It returns the errors of check, and core.ErrNotFound if the link was
// used.
func (n *userCreator) admit(ctx context.Context, w *storedSignUp, user *core.User) (*core.User, error) {
	if tx := n.transactor; tx != nil {
		return n.createInTransaction(ctx, tx, w, user)
	}
	if err := n.pending.use(ctx, w); err != nil {
		return nil, err
	}
	return n.createInSequence(ctx, w, user)
}

// createInTransaction uses up the sign-up and writes the user and the password in one transaction. If the process stops
// meanwhile, nothing is written and the link still works.
func (n *userCreator) createInTransaction(
	ctx context.Context, tx store.Transactor, w *storedSignUp, fresh *core.User,
) (user *core.User, err error) {
	err = tx.InTransaction(ctx, func(ctx context.Context, inside core.Store) error {
		records, ok := inside.(store.RecordStore)
		if !ok {
			return errors.New("password: the store's transactions do not support records")
		}
		if err := n.pending.in(records).use(ctx, w); err != nil {
			return err
		}
		if user, err = create(ctx, inside, fresh); err != nil {
			return err
		}
		return writePassword(ctx, w, user, n.passwords.in(records))
	})
	return user, err
}

// createInSequence writes the user and then the password, for stores without transactions. If one of them fails or the
// store panics, it deletes the user and restores the link, unless the address belongs to another user by now. If the
// store does not respond to the creation of the user, the user is found by the requested ID, unless the store creates
// its own IDs.
func (n *userCreator) createInSequence(
	ctx context.Context, w *storedSignUp, fresh *core.User,
) (user *core.User, err error) {
	over, id := false, fresh.ID
	defer func() {
		if over {
			return
		}
		n.deleteUser(ctx, id)
		n.pending.links.restore(ctx, w.record)
	}()
	if user, err = create(ctx, n.users, fresh); err != nil {
		over = errors.Is(err, core.ErrConflict)
		return nil, err
	}
	id = user.ID
	if err = writePassword(ctx, w, user, n.passwords); err != nil {
		return user, err
	}
	over = true
	return user, nil
}

func create(ctx context.Context, users core.Store, fresh *core.User) (*core.User, error) {
	user, err := users.CreateUser(ctx, fresh.Clone())
	if err != nil {
		return nil, fmt.Errorf("password: create the user: %w", err)
	}
	return user, nil
}

// writePassword writes the password of a new user. It never returns core.ErrConflict, which would mean that the address
// is taken.
func writePassword(ctx context.Context, w *storedSignUp, user *core.User, to *passwords) error {
	err := to.set(ctx, user.ID, w.Hash, false, nil)
	if errors.Is(err, core.ErrConflict) {
		return errors.New("password: set the password: a new user already has a password")
	}
	if err != nil {
		return fmt.Errorf("password: set the password: %w", err)
	}
	return nil
}

// deleteUser deletes a user without a password. Such a user could not sign in, and their address could not be used for
// another sign-up. The user may not exist.
func (n *userCreator) deleteUser(ctx context.Context, id string) {
	if n.deleter == nil {
		return
	}
	err := n.deleter.DeleteUser(context.WithoutCancel(ctx), id)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		n.log.ErrorContext(ctx, "password: could not delete a user without a password", "user", id, "error", err)
	}
}
