package memory

import (
	"context"
	"maps"

	"github.com/latchkey-go/latchkey/core/store"
)

func copyUser(u store.User) *store.User {
	u.Extra = maps.Clone(u.Extra)
	return u.AsStored()
}

// CreateUser implements [store.Store]. It uses the ID of u.
func (s *Store) CreateUser(ctx context.Context, u *store.User) (made *store.User, err error) {
	err = s.locked(ctx, func(d *data) error {
		if _, taken := d.users[u.ID]; taken || u.ID == "" {
			return store.ErrConflict
		}
		if _, taken := d.byEmail[u.Email]; taken && u.Email != "" {
			return store.ErrConflict
		}
		made = copyUser(*u)
		d.users[u.ID] = *copyUser(*made)
		if u.Email != "" {
			d.byEmail[u.Email] = u.ID
		}
		return nil
	})
	return made, err
}

// User implements [store.Store].
func (s *Store) User(ctx context.Context, id string) (u *store.User, err error) {
	err = s.locked(ctx, func(d *data) error { u, err = d.user(id); return err })
	return u, err
}

func (d *data) user(id string) (*store.User, error) {
	u, err := get(d.users, id)
	if err != nil {
		return nil, err
	}
	return copyUser(*u), nil
}

// UserByEmail implements [store.Store].
func (s *Store) UserByEmail(ctx context.Context, email string) (u *store.User, err error) {
	err = s.locked(ctx, func(d *data) error { u, err = d.user(d.byEmail[email]); return err })
	return u, err
}

// UserByAccount implements [store.Store].
func (s *Store) UserByAccount(ctx context.Context, provider, providerAccountID string) (u *store.User, err error) {
	err = s.locked(ctx, func(d *data) error {
		u, err = d.user(d.accounts[accountKey{provider, providerAccountID}].UserID)
		return err
	})
	return u, err
}

// UpdateUser implements [store.Store].
func (s *Store) UpdateUser(ctx context.Context, u *store.User) (updated *store.User, err error) {
	err = s.locked(ctx, func(d *data) error {
		old, err := get(d.users, u.ID)
		if err != nil {
			return err
		}
		if owner, taken := d.byEmail[u.Email]; taken && owner != u.ID {
			return store.ErrConflict
		}
		delete(d.byEmail, old.Email)
		if u.Email != "" {
			d.byEmail[u.Email] = u.ID
		}
		updated = copyUser(*u)
		d.users[u.ID] = *copyUser(*u)
		return nil
	})
	return updated, err
}

// DeleteUser implements [store.UserDeleter].
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	return s.locked(ctx, func(d *data) error {
		u, err := get(d.users, id)
		if err != nil {
			return err
		}
		delete(d.users, id)
		delete(d.byEmail, u.Email)
		maps.DeleteFunc(d.accounts, func(_ accountKey, a store.Account) bool { return a.UserID == id })
		maps.DeleteFunc(d.sessions, func(_ string, v store.Session) bool { return v.UserID == id })
		maps.DeleteFunc(d.authenticators, func(_ string, a store.Authenticator) bool { return a.UserID == id })
		d.deleteRecords(func(r store.Record) bool { return r.UserID == id })
		return nil
	})
}

// ListUsers implements [store.UserFinder], in the order of the IDs. The cursor is the last ID.
func (s *Store) ListUsers(ctx context.Context, cursor string, limit int) (list []*store.User, next string, err error) {
	err = s.locked(ctx, func(d *data) error {
		var ids []string
		ids, next = page(maps.Keys(d.users), "", cursor, limit)
		for _, id := range ids {
			list = append(list, copyUser(d.users[id]))
		}
		return nil
	})
	return list, next, err
}

// ListUsersByEmail implements [store.UserFinder]. The cursor is the last address.
func (s *Store) ListUsersByEmail(
	ctx context.Context, prefix, cursor string, limit int,
) (list []*store.User, next string, err error) {
	err = s.locked(ctx, func(d *data) error {
		var emails []string
		emails, next = page(maps.Keys(d.byEmail), prefix, cursor, limit)
		for _, email := range emails {
			list = append(list, copyUser(d.users[d.byEmail[email]]))
		}
		return nil
	})
	return list, next, err
}

// EachEmail implements [store.EmailLister].
func (s *Store) EachEmail(ctx context.Context, each func(userID, email string) error) error {
	var ids map[string]string
	if err := s.locked(ctx, func(d *data) error { ids = maps.Clone(d.byEmail); return nil }); err != nil {
		return err
	}
	for email, id := range ids {
		if err := each(id, email); err != nil {
			return err
		}
	}
	return nil
}
