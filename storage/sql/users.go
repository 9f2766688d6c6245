package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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

// ListUsers implements [store.UserFinder] with one query over the primary key. The cursor is the last ID.
func (s *Store) ListUsers(ctx context.Context, cursor string, limit int) (list []*store.User, next string, err error) {
	const operation = "list users"
	limit = store.PageLimit(limit)
	args := []any{s.beforeIDs(), limit}
	if cursor != "" {
		args[0] = s.id(cursor)
	}
	if skip, _ := s.storable(operation, reads, args); skip {
		return nil, "", s.failed(ctx, operation, store.ErrCursor, nil)
	}
	list, err = query(ctx, s, operation, s.usersAfter, s.readUser, args...)
	if s.dialect.Incomparable != nil && s.dialect.Incomparable(err) {
		return nil, "", s.failed(ctx, operation, store.ErrCursor, nil)
	}
	if err == nil && len(list) == limit {
		next = list[limit-1].ID
	}
	return list, next, err
}

// beforeIDs returns a value that is smaller than all IDs of users.
func (s *Store) beforeIDs() any {
	switch s.layout.IDs {
	case IntegerIDs:
		return int64(math.MinInt64)
	case UUIDs:
		return uuid([16]byte{})
	}
	return ""
}

// ListUsersByEmail implements [store.UserFinder] with one query over the index of the addresses. The cursor is the last
// address. See [Dialect].Bytewise for databases where it is unsupported.
func (s *Store) ListUsersByEmail(
	ctx context.Context, prefix, cursor string, limit int,
) (list []*store.User, next string, err error) {
	const operation = "list users by e-mail"
	if bytewise, err := s.emailsBytewise(ctx, operation); err != nil || !bytewise {
		return nil, "", cmp.Or(err, s.failed(ctx, operation, store.ErrUnsupported, nil))
	}
	if skip, _ := s.storable(operation, reads, []any{cursor}); skip {
		return nil, "", s.failed(ctx, operation, store.ErrCursor, nil)
	}
	limit = store.PageLimit(limit)
	end := cmp.Or(store.PrefixEnd(prefix), strings.Repeat(string(utf8.MaxRune), 100))
	list, err = query(ctx, s, operation, s.usersByEmail, s.readUser, prefix, end, cursor, limit)
	if err == nil && len(list) == limit {
		next = list[limit-1].Email
	}
	// MySQL's collations ignore trailing spaces.
	list = slices.DeleteFunc(list, func(u *store.User) bool { return !strings.HasPrefix(u.Email, prefix) })
	return list, next, err
}

// emailsBytewise reports whether the index of the addresses is sorted by bytes.
func (s *Store) emailsBytewise(ctx context.Context, operation string) (bool, error) {
	if s.bytewise == nil {
		return true, nil
	}
	if known := s.sorted.Load(); known != nil {
		return *known, nil
	}
	sorted, err := queryOne(ctx, s, operation, s.bytewise, func(rows sqlpool.Rows) (sorted bool, err error) {
		err = rows.Scan(&sorted)
		return sorted, err
	})
	if err == nil {
		s.sorted.Store(&sorted)
	}
	return sorted, err
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
