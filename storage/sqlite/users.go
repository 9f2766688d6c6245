package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

const userColumns = `u.id, u.name, u.email, u."emailVerified", u.image, u.extra`

// userRow scans the columns of userColumns.
type userRow struct {
	id                        string
	name, email, image, extra sql.NullString
	verified                  sql.NullInt64
}

func (r *userRow) into() []any {
	return []any{&r.id, &r.name, &r.email, &r.verified, &r.image, &r.extra}
}

func (r *userRow) user() (*core.User, error) {
	u := core.User{ID: r.id, Name: r.name.String, Email: r.email.String, Image: r.image.String}
	if !r.name.Valid {
		u.Null |= core.NullName
	}
	if !r.image.Valid {
		u.Null |= core.NullImage
	}
	if r.verified.Valid {
		u.EmailVerified = fromMicros(r.verified.Int64)
	}
	if r.extra.Valid {
		if err := json.Unmarshal([]byte(r.extra.String), &u.Extra); err != nil {
			return nil, failed("read the further members of a user", err)
		}
	}
	return u.AsStored(), nil
}

// userArgs are the values of a user after the id.
func userArgs(u *core.User) ([]any, error) {
	extra, err := members(u.Extra)
	if err != nil {
		return nil, err
	}
	verified := sql.NullInt64{Int64: micros(u.EmailVerified), Valid: !u.EmailVerified.IsZero()}
	return []any{nullable(u.Name, u.Null, core.NullName), optional(u.Email), verified, nullable(u.Image, u.Null, core.NullImage), extra}, nil
}

// nullable keeps the empty text and null apart.
func nullable(text string, nulls, bit core.Nulls) sql.NullString {
	return sql.NullString{String: text, Valid: text != "" || nulls&bit == 0}
}

func members(m core.Members) (sql.NullString, error) {
	if len(m) == 0 {
		return sql.NullString{}, nil
	}
	raw, err := json.Marshal(m)
	return optional(string(raw)), err
}

func (s *Store) oneUser(ctx context.Context, operation, query string, args ...any) (*core.User, error) {
	var row userRow
	if err := s.q.QueryRowContext(ctx, query, args...).Scan(row.into()...); err != nil {
		return nil, failed(operation, err)
	}
	return row.user()
}

// CreateUser implements [core.Store]. It keeps the id it is given.
func (s *Store) CreateUser(ctx context.Context, u *core.User) (*core.User, error) {
	args, err := userArgs(u)
	if err != nil {
		return nil, failed("create user", err)
	}
	err = s.exec(ctx, "create user", `INSERT INTO users (id, name, email, "emailVerified", image, extra) VALUES (?, ?, ?, ?, ?, ?)`, 1, append([]any{u.ID}, args...)...)
	if err != nil {
		return nil, err
	}
	return stored(u), nil
}

// stored is a user as a read would return it.
func stored(u *core.User) *core.User {
	c := *u
	if !c.EmailVerified.IsZero() {
		c.EmailVerified = c.EmailVerified.UTC().Truncate(time.Microsecond)
	}
	if c.Name != "" {
		c.Null &^= core.NullName
	}
	return c.AsStored()
}

// User implements [core.Store].
func (s *Store) User(ctx context.Context, id string) (*core.User, error) {
	return s.oneUser(ctx, "read user", `SELECT `+userColumns+` FROM users u WHERE u.id = ?`, id)
}

// UserByEmail implements [core.Store].
func (s *Store) UserByEmail(ctx context.Context, email string) (*core.User, error) {
	return s.oneUser(ctx, "read user by e-mail", `SELECT `+userColumns+` FROM users u WHERE u.email = ?`, email)
}

// UserByAccount implements [core.Store].
func (s *Store) UserByAccount(ctx context.Context, provider, providerAccountID string) (*core.User, error) {
	return s.oneUser(ctx, "read user by account",
		`SELECT `+userColumns+` FROM accounts a JOIN users u ON u.id = a."userId" WHERE a.provider = ? AND a."providerAccountId" = ?`, provider, providerAccountID)
}

// UpdateUser implements [core.Store].
func (s *Store) UpdateUser(ctx context.Context, u *core.User) (*core.User, error) {
	args, err := userArgs(u)
	if err != nil {
		return nil, failed("update user", err)
	}
	err = s.exec(ctx, "update user", `UPDATE users SET name = ?, email = ?, "emailVerified" = ?, image = ?, extra = ? WHERE id = ?`, 1, append(args, u.ID)...)
	if err != nil {
		return nil, err
	}
	return stored(u), nil
}

// DeleteUser implements [core.Deleter]. Accounts, sessions and passkeys go with the user, by foreign keys.
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	return s.exec(ctx, "delete user", `DELETE FROM users WHERE id = ?`, 1, id)
}
