package sqlstore

import (
	"context"
	"fmt"
	"strconv"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/sqlpool"
)

// userRow scans a user.
type userRow struct {
	id, name, email, image text
	verified               timeColumn
	further                memberColumns
}

func (e *engine) userRow() userRow {
	return userRow{verified: timeColumn{engine: e}, further: membersOf(e.layout.UserMembers)}
}

// into appends the scan destinations of the columns.
func (r *userRow) into(list []any) []any {
	return r.further.into(append(list, &r.id, &r.name, &r.email, &r.verified, &r.image))
}

func (r *userRow) user() (*store.User, error) {
	extra, err := r.further.members()
	if err != nil {
		return nil, err
	}
	u := store.User{
		ID: r.id.value, Name: r.name.value, Email: r.email.value, Image: r.image.value,
		EmailVerified: r.verified.at, Extra: extra,
	}
	if r.name.null {
		u.Null |= store.NullName
	}
	if r.image.null {
		u.Null |= store.NullImage
	}
	return u.AsStored(), nil
}

func (s *Store) readUser(rows sqlpool.Rows) (*store.User, error) {
	row := s.userRow()
	if err := rows.Scan(row.into(make([]any, 0, 8))...); err != nil {
		return nil, err
	}
	return row.user()
}

// userArgs returns the values of a user after the ID. A missing email address is null, so that the unique index allows
// many users without one.
func (s *Store) userArgs(u *store.User) ([]any, error) {
	verified, err := s.optionalTime(u.EmailVerified)
	if err != nil {
		return nil, err
	}
	further, err := memberArgs(u.Extra, s.layout.UserMembers)
	return append([]any{
		emptyOrNull(u.Name, u.Null, store.NullName), orNull(u.Email), verified,
		emptyOrNull(u.Image, u.Null, store.NullImage),
	}, further...), err
}

// stored returns a user as a later read will return it.
func (s *Store) stored(u *store.User) *store.User {
	c := *u
	c.Null = 0
	if u.Name == "" {
		c.Null |= u.Null & store.NullName
	}
	if u.Image == "" {
		c.Null |= u.Null & store.NullImage
	}
	c.Extra = storedMembers(u.Extra, s.layout.UserMembers)
	if !u.EmailVerified.IsZero() {
		c.EmailVerified = s.storedTime(u.EmailVerified)
	}
	return c.AsStored()
}

// CreateUser implements [store.Store]. It uses the ID of u, unless the database generates IDs.
func (s *Store) CreateUser(ctx context.Context, u *store.User) (*store.User, error) {
	const operation = "create user"
	args, err := s.userArgs(u)
	if err != nil {
		return nil, s.failed(ctx, operation, err, nil)
	}
	made := s.stored(u)
	if s.layout.IDs == IntegerIDs {
		made.ID, err = s.createCounted(ctx, operation, args)
		if err != nil {
			return nil, err
		}
		return made, nil
	}
	id := s.id(u.ID)
	if _, impossible := id.(noID); impossible || u.ID == "" {
		return nil, fmt.Errorf("%s: %s: the id of a user must be a UUID in lower case", s.dialect.Name, operation)
	}
	if _, err := s.exec(ctx, operation, s.createUser, append([]any{id}, args...)...); err != nil {
		return nil, err
	}
	return made, nil
}

// createCounted inserts a user and returns the ID that the database generated.
func (s *Store) createCounted(ctx context.Context, operation string, args []any) (string, error) {
	if s.dialect.Returning {
		return queryOne(ctx, s, operation, s.createUser, func(rows sqlpool.Rows) (string, error) {
			var id text
			err := rows.Scan(&id)
			return id.value, err
		}, args...)
	}
	result, err := s.execute(ctx, operation, s.createUser, args)
	if err != nil {
		return "", err
	}
	id, err := result.LastInsertId()
	return strconv.FormatInt(id, 10), s.failed(ctx, operation, err, nil)
}

// User implements [store.Store].
func (s *Store) User(ctx context.Context, id string) (*store.User, error) {
	return queryOne(ctx, s, "read user", s.user, s.readUser, s.id(id))
}

// UserByEmail implements [store.Store].
func (s *Store) UserByEmail(ctx context.Context, email string) (*store.User, error) {
	if email == "" {
		return nil, store.ErrNotFound // also if users in the database have an empty address
	}
	return queryOne(ctx, s, "read user by e-mail", s.userByEmail, s.readUser, email)
}

// UserByAccount implements [store.Store].
func (s *Store) UserByAccount(ctx context.Context, provider, providerAccountID string) (*store.User, error) {
	return queryOne(ctx, s, "read user by account", s.userByAccount, s.readUser, provider, providerAccountID)
}

// UpdateUser implements [store.Store].
func (s *Store) UpdateUser(ctx context.Context, u *store.User) (*store.User, error) {
	const operation = "update user"
	args, err := s.userArgs(u)
	if err != nil {
		return nil, s.failed(ctx, operation, err, nil)
	}
	if err := s.updateOne(ctx, operation, s.updateUser, s.userExists, 1, append(args, s.id(u.ID))...); err != nil {
		return nil, err
	}
	return s.stored(u), nil
}

// DeleteUser implements [store.UserDeleter]. It deletes everything that belongs to the user with separate statements,
// in case the tables have no foreign keys.
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	const operation = "delete user"
	key := s.id(id)
	return s.inTransaction(ctx, operation, func(ctx context.Context, tx *Store) error {
		for _, theirs := range []*statement{
			tx.deleteSessions, tx.deleteAccounts, tx.deleteAuthenticators, tx.deleteUserRecords,
		} {
			if _, err := tx.exec(ctx, operation, theirs, key); err != nil {
				return err
			}
		}
		return tx.execOne(ctx, operation, tx.deleteUser, key)
	})
}

// EachEmail implements [store.EmailLister].
func (s *Store) EachEmail(ctx context.Context, each func(userID, email string) error) error {
	const operation = "list addresses"
	rows, err := s.target().QueryContext(ctx, s.eachEmail)
	if err != nil {
		return s.failed(ctx, operation, err, nil)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, email text
		if err := rows.Scan(&id, &email); err != nil {
			return s.failed(ctx, operation, err, nil)
		}
		if email.value == "" {
			continue
		}
		if err := each(id.value, email.value); err != nil {
			return err
		}
	}
	return s.failed(ctx, operation, rows.Err(), nil)
}
