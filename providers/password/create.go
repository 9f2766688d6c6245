package password

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/store"
)

// userCreator creates the users of sign-ups.
type userCreator struct {
	provider  string
	pending   *signUpStore
	passwords *passwords
	users     core.Store
	fields    *SignUpFields
	names     *usernames // nil without Options.Usernames
	// transactor and deleter are nil if the store does not support them.
	transactor store.Transactor
	deleter    store.UserDeleter
	now        func() time.Time
	log        *slog.Logger
}

// newUser is the user of a sign-up. Its record is nil if the user has no email address.
type newUser struct {
	*storedSignUp
	user  *core.User   // with an ID for stores that do not create IDs
	codes *recoverySet // of a user without an address
}

// signIn creates the user after Callbacks.SignIn has allowed the sign-up, calls created, and signs the user in through
// the sign-in gates. A guest becomes the user.
func (n *userCreator) signIn(
	ctx context.Context, c *core.ActionRequest, u *newUser, callback string, created func(context.Context, *core.User),
) (*core.Response, error) {
	create := func(ctx context.Context, guestID string) (*core.User, error) {
		user, err := n.create(ctx, u, guestID)
		if errors.Is(err, errNotGuest) {
			user, err = n.create(ctx, u, "")
		}
		if err != nil {
			return nil, err
		}
		created(ctx, user)
		return user, nil
	}
	return c.SignIn(ctx, core.SignIn{
		User: u.user, Methods: []amr.Method{amr.Password}, CallbackURL: callback,
		Create: func(ctx context.Context) (*core.User, error) { return create(ctx, "") },
		Upgrade: func(ctx context.Context, guest *core.User) (*core.User, error) {
			return create(ctx, guest.ID)
		},
		Account: &core.Account{
			Type: core.TypeCredentials, Provider: n.provider, ProviderAccountID: u.user.ID, UserID: u.user.ID,
		},
	})
}

// create creates the user of a sign-up with all records, and uses up the link: of concurrent requests with one link or
// one username, one succeeds. The others get errLink or errUsernameTaken. It does not use up the invitation. If guestID
// is not empty, the guest becomes the user, or the error is errNotGuest; guests exist on stores with transactions only.
func (n *userCreator) create(ctx context.Context, u *newUser, guestID string) (user *core.User, err error) {
	if n.transactor != nil {
		user, err = n.createInTransaction(ctx, u, guestID)
	} else {
		user, err = n.createInSequence(ctx, u)
	}
	if u.record != nil && (errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound)) {
		err = errLink
	}
	if err != nil {
		return nil, err
	}
	return user, n.saveFields(ctx, u, user)
}

// createInTransaction uses up the sign-up and writes the user and their records in one transaction. If the process
// stops meanwhile, nothing is written and the link still works.
func (n *userCreator) createInTransaction(
	ctx context.Context, u *newUser, guestID string,
) (user *core.User, err error) {
	err = n.transactor.InTransaction(ctx, func(ctx context.Context, inside core.Store) error {
		records, ok := inside.(store.RecordStore)
		if !ok {
			return errors.New("password: the store's transactions do not support records")
		}
		n := n.in(records)
		if u.record != nil {
			if err := n.pending.use(ctx, u.storedSignUp); err != nil {
				return err
			}
		}
		if user, err = n.createOrUpgrade(ctx, inside, u.user, guestID); err != nil {
			return err
		}
		if err := n.write(ctx, u, user); err != nil || u.record != nil {
			return err
		}
		return n.giveName(ctx, user.ID, u.Username)
	})
	return user, err
}

// in returns a userCreator that uses the records of a transaction.
func (n *userCreator) in(records store.RecordStore) *userCreator {
	inside := *n
	inside.passwords = &passwords{records, n.now}
	inside.pending = &signUpStore{&links{n.pending.links.host, records}, n.pending.invited}
	if n.names != nil {
		inside.names = &usernames{n.names.options, records, n.users, nil, n.now}
	}
	if n.names != nil && n.names.codes != nil {
		inside.names.codes = &recoveryCodes{n.names.codes.host, records}
	}
	return &inside
}

// errNotGuest means that the user is no guest any more: another request has upgraded or merged the guest.
var errNotGuest = errors.New("password: the user is no guest any more")

func (n *userCreator) createOrUpgrade(
	ctx context.Context, inside core.Store, fresh *core.User, guestID string,
) (*core.User, error) {
	if guestID == "" {
		return create(ctx, inside, fresh)
	}
	user, err := n.pending.links.host.UpgradeUser(ctx, inside, guestID, fresh)
	if errors.Is(err, core.ErrNotFound) {
		return nil, errNotGuest
	}
	if err != nil {
		return nil, fmt.Errorf("password: upgrade the guest: %w", err)
	}
	return user, nil
}

// createInSequence writes the user and then their records, for stores without transactions. If one of them fails or the
// store panics, it deletes the user and restores the link, unless the address belongs to another user by now. If the
// store does not respond to the creation of the user, the user is found by the requested ID, unless the store creates
// its own IDs. The username of a user without an address comes last, so that no user without it can have a claim that
// stays.
func (n *userCreator) createInSequence(ctx context.Context, u *newUser) (user *core.User, err error) {
	if u.record != nil {
		if err := n.pending.use(ctx, u.storedSignUp); err != nil {
			return nil, err
		}
	}
	over, id := false, u.user.ID
	defer func() {
		if !over {
			n.undo(ctx, u, id)
		}
	}()
	if user, err = create(ctx, n.users, u.user); err != nil {
		over = errors.Is(err, core.ErrConflict)
		return nil, err
	}
	id = user.ID
	if err = n.write(ctx, u, user); err == nil && u.record == nil {
		_, err = n.names.set(ctx, user.ID, u.Username)
	}
	over = err == nil
	return user, err
}

func create(ctx context.Context, users core.Store, fresh *core.User) (*core.User, error) {
	user, err := users.CreateUser(ctx, fresh.Clone())
	if err != nil {
		return nil, fmt.Errorf("password: create the user: %w", err)
	}
	return user, nil
}

// write writes the password of a new user, and the recovery codes of a user without an address. It never returns
// core.ErrConflict, which would mean that the address is taken.
func (n *userCreator) write(ctx context.Context, u *newUser, user *core.User) error {
	err := n.passwords.set(ctx, user.ID, u.Hash, false, nil)
	if err == nil && u.codes != nil {
		err = n.names.codes.write(ctx, user.ID, u.codes, nil)
	}
	if errors.Is(err, core.ErrConflict) {
		return errors.New("password: set the password: a new user already has a password or recovery codes")
	}
	if err != nil {
		return fmt.Errorf("password: set the password: %w", err)
	}
	return nil
}

// giveName stores the username of a new user in a transaction, in which a conflict makes all further calls fail.
func (n *userCreator) giveName(ctx context.Context, userID, name string) error {
	err := claimError(n.names.records.CreateRecord(ctx, &store.Record{
		Kind: kindUsername, Key: name, UserID: userID, Value: json.RawMessage("null"),
	}))
	if err != nil {
		return err
	}
	value, err := json.Marshal(named{name, n.now().UTC().Truncate(time.Second)})
	if err == nil {
		err = n.names.records.CreateRecord(ctx, &store.Record{Kind: kindNamed, Key: userID, UserID: userID, Value: value})
	}
	if err != nil {
		return fmt.Errorf("password: store the username: %w", err)
	}
	return nil
}

// undo deletes a user who could not sign in, and whose address could not be used for another sign-up, and restores the
// link. The user may not exist.
func (n *userCreator) undo(ctx context.Context, u *newUser, id string) {
	if n.deleter != nil {
		err := n.deleter.DeleteUser(context.WithoutCancel(ctx), id)
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			n.log.ErrorContext(ctx, "password: could not delete a user without a password", "user", id, "error", err)
		}
	}
	if u.record != nil {
		n.pending.links.restore(ctx, u.record)
	}
}

// saveFields calls SignUpFields.Save for a new user. If it fails or panics, the user is deleted and the link works
// again.
func (n *userCreator) saveFields(ctx context.Context, u *newUser, user *core.User) error {
	if len(n.fields.Fields) == 0 {
		return nil
	}
	values := make(map[string]string, len(n.fields.Fields))
	for _, f := range n.fields.Fields { // the configuration may have changed since the sign-up
		values[f.Name] = u.Values[f.Name]
	}
	saved := false
	defer func() {
		if !saved {
			n.undo(ctx, u, user.ID)
		}
	}()
	if err := n.fields.Save(ctx, user.Clone(), values); err != nil {
		return fmt.Errorf("password: Options.SignUpFields.Save: %w", err)
	}
	saved = true
	return nil
}
