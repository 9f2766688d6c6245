package keyvalue

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/latchkey-go/latchkey/core/store"
)

// CreateUser implements [store.Store]. It uses the ID of u.
func (s *Store) CreateUser(ctx context.Context, u *store.User) (*store.User, error) {
	const operation = "create user"
	document, err := encodeUser(u)
	if err == nil && u.ID == "" {
		err = errors.New("the user has no id")
	}
	if err != nil {
		return nil, s.failed(ctx, operation, err)
	}
	id, plain, address, email := escaped(u.ID), u.ID, u.Email, emailKey(u.Email)
	return one(ctx, s, operation, decodeUser, func(ctx context.Context, v *view) ([]string, error) {
		keys := []string{key("user", id), key("stale", id)}
		if email != "" {
			keys = append(keys, email)
		}
		values, err := v.get(ctx, keys...)
		switch {
		case err != nil:
			return nil, err
		case values[0].Found:
			return nil, store.ErrConflict
		case values[1].Found:
			return nil, v.leftover(id)
		}
		if email != "" && values[2].Found {
			if err := v.freeAddress(ctx, address); err != nil {
				return nil, err
			}
		}
		v.put(keys[0], document)
		if email != "" {
			v.put(email, plain)
		}
		return []string{document}, nil
	})
}

// emailKey returns the key of an address's index entry. It is empty for the empty address, which no user has.
func emailKey(email string) string {
	if email == "" {
		return ""
	}
	return key("email", escaped(email))
}

// User implements [store.Store].
func (s *Store) User(ctx context.Context, id string) (*store.User, error) {
	return one(ctx, s, "read user", decodeUser, func(ctx context.Context, v *view) ([]string, error) {
		if impossible(id) {
			return nil, store.ErrNotFound
		}
		return found(v.get(ctx, key("user", escaped(id))))
	})
}

// UserByEmail implements [store.Store].
func (s *Store) UserByEmail(ctx context.Context, email string) (*store.User, error) {
	return one(ctx, s, "read user by e-mail", decodeUser, func(ctx context.Context, v *view) ([]string, error) {
		if email == "" || impossible(email) {
			return nil, store.ErrNotFound
		}
		id, err := found(v.get(ctx, emailKey(email)))
		if err != nil {
			return nil, err
		}
		user, err := v.get(ctx, key("user", escaped(id[0])))
		if err != nil {
			return nil, err
		}
		if o, err := decode[owner](user[0].Text); user[0].Found && (err != nil || o.Email == email) {
			return []string{user[0].Text}, nil
		}
		lost, text, err := v.addressee(ctx, email) // changed between the two reads, or lost
		if err == nil && lost != "" {
			err = store.ErrNotFound
		}
		return []string{text}, err
	})
}

// UserByAccount implements [store.Store].
func (s *Store) UserByAccount(ctx context.Context, provider, providerAccountID string) (*store.User, error) {
	return one(ctx, s, "read user by account", decodeUser, func(ctx context.Context, v *view) ([]string, error) {
		if impossible(provider, providerAccountID) {
			return nil, store.ErrNotFound
		}
		account, err := found(v.get(ctx, key("account", accountName(provider, providerAccountID))))
		if err != nil {
			return nil, err
		}
		o, err := decode[owner](account[0])
		if err != nil {
			return nil, err
		}
		return found(v.get(ctx, key("user", escaped(o.UserID))))
	})
}

// UpdateUser implements [store.Store]. Before it returns, it renews the copies of the user in about 25 sessions, if ctx
// lasts. DeleteExpired renews the others. A session with an outdated copy reads the user.
func (s *Store) UpdateUser(ctx context.Context, u *store.User) (*store.User, error) {
	const operation = "update user"
	document, err := encodeUser(u)
	if err != nil {
		return nil, s.failed(ctx, operation, err)
	}
	id, plain, address, email := escaped(u.ID), u.ID, u.Email, emailKey(u.Email)
	return one(ctx, s, operation, decodeUser, func(ctx context.Context, v *view) ([]string, error) {
		keys := []string{key("user", id)}
		if email != "" {
			keys = append(keys, email)
		}
		values, err := v.get(ctx, keys...)
		switch {
		case err != nil:
			return nil, err
		case !values[0].Found:
			return nil, store.ErrNotFound
		}
		if email != "" && values[1].Found && values[1].Text != plain {
			if err := v.freeAddress(ctx, address); err != nil {
				return nil, err
			}
		}
		old, err := decode[owner](values[0].Text)
		if err != nil {
			return nil, err
		}
		if old.Email != address {
			if err := v.removeAddress(ctx, plain, old.Email); err != nil {
				return nil, err
			}
		}
		if email != "" && (!values[1].Found || values[1].Text != plain) {
			v.put(email, plain)
		}
		v.put(keys[0], document)
		v.markStale(id)
		return []string{document}, nil
	})
}

// errFreeLater is the error for a name of a user whom the same transaction has deleted.
var errFreeLater = errors.New("this transaction deletes the user who has it: it is available after the commit")

// leftover returns the error for a record of a deleted user.
func (v *view) leftover(id string) error {
	if v.stale[id] { // uncommitted changes cannot be settled
		return errFreeLater
	}
	return &leftoverError{id}
}

// markStale marks the copies of a user as stale.
func (p *pending) markStale(id string) {
	p.put(key("stale", id), rand.Text()) // random, so that a call that settles notices a later change
	p.add(staleUsers, id)
	keep(&p.stale, id, true)
}

// DeleteUser implements [store.UserDeleter]. The first commit deletes the user with up to 15 each of accounts, passkeys
// and records. Further commits delete the rest and the sessions, which are invalid from the first commit on. If one of
// these fails, DeleteUser returns an error; call it again, or let DeleteExpired complete the work.
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	const operation = "delete user"
	user := escaped(id)
	_, err := s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
		if impossible(id) {
			return nil, store.ErrNotFound
		}
		values, err := v.get(ctx, key("user", user), key("stale", user))
		switch {
		case err != nil:
			return nil, err
		case !values[0].Found && values[1].Found && !v.stale[user]:
			return nil, &leftoverError{user}
		case !values[0].Found:
			return nil, store.ErrNotFound
		}
		o, err := decode[owner](values[0].Text)
		if err != nil {
			return nil, err
		}
		if err := v.removeSome(ctx, user); err != nil {
			return nil, err
		}
		v.remove(key("user", user))
		if err := v.removeAddress(ctx, id, o.Email); err != nil {
			return nil, err
		}
		v.markStale(user)
		return nil, nil
	})
	if err != nil || s.tx != nil {
		return err
	}
	// Usually run has already settled everything. If it could not, this returns the reason.
	return s.failed(ctx, operation, s.db.settle(ctx, user))
}

// removeSome deletes the records of a user except sessions, and only some of each kind, so that they fit in one commit.
func (v *view) removeSome(ctx context.Context, user string) error {
	const atOnce = 15
	sets := []Page{
		{Set: key("user-accounts", user), Limit: atOnce}, {Set: key("user-passkeys", user), Limit: atOnce},
		{Set: key("user-records", user), Limit: atOnce},
	}
	owned, err := v.read(ctx, Query{Sets: sets})
	if err != nil {
		return err
	}
	for i, kind := range []string{"account", "passkey", "record"} {
		for _, name := range owned.Names[i] {
			v.removeOwned(kind, user, name)
		}
	}
	return nil
}
