package keyvalue

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/latchkey-go/latchkey/core/store"
)

// userStore is the part of a Store about users.
type userStore struct{ runner }

// CreateUser implements [store.Store]. It keeps the id it is given.
func (s *userStore) CreateUser(ctx context.Context, u *store.User) (*store.User, error) {
	const operation = "create user"
	document, err := encodeUser(u)
	if err == nil && u.ID == "" {
		err = errors.New("the user has no id")
	}
	if err != nil {
		return nil, s.failed(ctx, operation, err)
	}
	id, plain, address, email := escaped(u.ID), u.ID, u.Email, emailKey(u.Email)
	return one(ctx, &s.runner, operation, decodeUser, func(ctx context.Context, v *view) ([]string, error) {
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

// emailKey is where the owner of an address stands; empty for the empty address, which no user has.
func emailKey(email string) string {
	if email == "" {
		return ""
	}
	return key("email", escaped(email))
}

// User implements [store.Store].
func (s *userStore) User(ctx context.Context, id string) (*store.User, error) {
	return one(ctx, &s.runner, "read user", decodeUser, func(ctx context.Context, v *view) ([]string, error) {
		if impossible(id) {
			return nil, store.ErrNotFound
		}
		return found(v.get(ctx, key("user", escaped(id))))
	})
}

// UserByEmail implements [store.Store].
func (s *userStore) UserByEmail(ctx context.Context, email string) (*store.User, error) {
	return one(ctx, &s.runner, "read user by e-mail", decodeUser, func(ctx context.Context, v *view) ([]string, error) {
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
		lost, text, err := v.addressee(ctx, email) // between the two looks, or for good
		if err == nil && lost != "" {
			err = store.ErrNotFound
		}
		return []string{text}, err
	})
}

// UserByAccount implements [store.Store].
func (s *userStore) UserByAccount(ctx context.Context, provider, providerAccountID string) (*store.User, error) {
	return one(ctx, &s.runner, "read user by account", decodeUser, func(ctx context.Context, v *view) ([]string, error) {
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

// UpdateUser implements [store.Store]. The copies of the user in some 25 of their sessions are renewed before it
// returns, if the context lasts, and those in further ones by DeleteExpired; the user is read where a copy is out of
// date.
func (s *userStore) UpdateUser(ctx context.Context, u *store.User) (*store.User, error) {
	const operation = "update user"
	document, err := encodeUser(u)
	if err != nil {
		return nil, s.failed(ctx, operation, err)
	}
	id, plain, address, email := escaped(u.ID), u.ID, u.Email, emailKey(u.Email)
	return one(ctx, &s.runner, operation, decodeUser, func(ctx context.Context, v *view) ([]string, error) {
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
			if err := v.giveUp(ctx, plain, old.Email); err != nil {
				return nil, err
			}
		}
		if email != "" && (!values[1].Found || values[1].Text != plain) {
			v.put(email, plain)
		}
		v.put(keys[0], document)
		v.outdate(id)
		return []string{document}, nil
	})
}

// errFreeLater is for what belonged to a user whom the same transaction has deleted.
var errFreeLater = errors.New("the transaction has deleted the user who has it: it is free after the commit")

// leftover is the error for what a deleted user has left behind.
func (v *view) leftover(id string) error {
	if v.stale[id] { // nothing can be settled that is not written yet
		return errFreeLater
	}
	return &leftoverError{id}
}

// outdate says that the copies of a user are not the user any more.
func (p *pending) outdate(id string) {
	p.put(key("stale", id), rand.Text()) // another one each time: a call that settles sees that another change came after
	p.add(staleUsers, id)
	keep(&p.stale, id, true)
}

// DeleteUser implements [store.UserDeleter]. The user goes at once, with up to 15 accounts, passkeys and records each;
// their sessions, and what is more, go in further commits before it returns, and end with the user. If one of these
// fails the error says so, and DeleteUser or DeleteExpired finish the work.
func (s *userStore) DeleteUser(ctx context.Context, id string) error {
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
		if err := v.giveUp(ctx, id, o.Email); err != nil {
			return nil, err
		}
		v.outdate(user)
		return nil, nil
	})
	if err != nil || s.tx != nil {
		return err
	}
	// Nothing is left to do here, unless run could not: then this says why.
	return s.failed(ctx, operation, s.settle(ctx, user))
}

// removeSome removes what a user has, but for sessions, and some of each kind only: that a commit may have it.
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
