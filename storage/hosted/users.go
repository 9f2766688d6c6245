package hosted

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
)

// possibleID reports whether a text can be the ID of a record.
func possibleID(id string) bool {
	return id != "" && len(id) <= 255 && !strings.ContainsFunc(id, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("_-~:", c)
	})
}

func (v *view) byID(ctx context.Context, table, id string) (record, error) {
	if !possibleID(id) {
		return nil, store.ErrNotFound
	}
	return first(v.query(ctx, table, map[string]any{"id": id}))
}

// CreateUser implements [store.Store]. It uses the ID of u, which may contain only letters, digits and _-~:.
func (s *Store) CreateUser(ctx context.Context, u *store.User) (*store.User, error) {
	const operation = "create user"
	fields, err := encodeUser(u)
	if err == nil && !possibleID(u.ID) {
		err = errors.New("a user ID may contain only letters, digits and the characters _-~:, and has others")
	}
	if err != nil {
		return nil, s.failed(ctx, operation, err)
	}
	id := u.ID
	return one(ctx, s, operation, decodeUser, func(ctx context.Context, v *view) ([]record, error) {
		if err := s.free(ctx, v, id, fields); err != nil {
			return nil, err
		}
		switch _, err := v.byID(ctx, s.tables.users, id); {
		case err == nil:
			return nil, store.ErrConflict
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
		v.insert(s.tables.users, id, fields)
		made := maps.Clone(fields)
		made["id"] = id
		return []record{made}, nil
	})
}

// free checks that no other user has a user's address. The unique column decides between concurrent calls.
func (s *Store) free(ctx context.Context, v *view, id string, fields record) error {
	if fields["email"] == nil {
		return nil
	}
	list, err := v.query(ctx, s.tables.users, map[string]any{"email": fields["email"]})
	if err == nil && len(list) > 0 && list[0].id() != id {
		err = store.ErrConflict
	}
	return err
}

// User implements [store.Store].
func (s *Store) User(ctx context.Context, id string) (*store.User, error) {
	return one(ctx, s, "read user", decodeUser, func(ctx context.Context, v *view) ([]record, error) {
		r, err := v.byID(ctx, s.tables.users, id)
		return []record{r}, err
	})
}

// UserByEmail implements [store.Store].
func (s *Store) UserByEmail(ctx context.Context, email string) (*store.User, error) {
	return one(ctx, s, "read user by e-mail", decodeUser, func(ctx context.Context, v *view) ([]record, error) {
		if email == "" || impossible(email) {
			return nil, store.ErrNotFound
		}
		r, err := first(v.query(ctx, s.tables.users, map[string]any{"email": email}))
		return []record{r}, err
	})
}

// UserByAccount implements [store.Store].
func (s *Store) UserByAccount(ctx context.Context, provider, providerAccountID string) (*store.User, error) {
	return one(ctx, s, "read user by account", decodeUser, func(ctx context.Context, v *view) ([]record, error) {
		account, err := s.account(ctx, v, provider, providerAccountID, "user.*")
		if err != nil {
			return nil, err
		}
		r, err := s.expanded(ctx, v, account)
		return []record{r}, err
	})
}

// expanded returns the user of a record from the same query, or reads the user if there are pending writes.
func (s *Store) expanded(ctx context.Context, v *view, of record) (record, error) {
	user, ok := of["user"].(map[string]any)
	if !ok {
		return nil, store.ErrNotFound
	}
	if len(v.ops) > 0 {
		return v.byID(ctx, s.tables.users, record(user).id())
	}
	return user, nil
}

// ListUsers implements [store.UserFinder] in the order of the API, at most 200 for each page. The cursor is that of the
// API.
func (s *Store) ListUsers(ctx context.Context, cursor string, limit int) (all []*store.User, next string, err error) {
	all, err = list(ctx, s, "list users", decodeUser, func(ctx context.Context, v *view) ([]record, error) {
		size := map[string]any{"size": min(store.PageLimit(limit), pageSize)}
		if cursor != "" {
			size["after"] = cursor
		}
		records, more, err := v.ask(ctx, s.tables.users, map[string]any{"columns": []string{"*"}, "page": size})
		if errors.As(err, new(*rejectedError)) && cursor != "" {
			err = store.ErrCursor
		}
		if next = ""; more != nil {
			next, _ = more["page"].(map[string]any)["after"].(string)
		}
		return records, err
	})
	return all, next, err
}

// ListUsersByEmail implements [store.UserFinder]. It always returns [store.ErrUnsupported]: the API does not document
// an index for prefixes.
func (s *Store) ListUsersByEmail(
	ctx context.Context, _, _ string, _ int,
) (list []*store.User, next string, err error) {
	return nil, "", s.failed(ctx, "list users by e-mail", store.ErrUnsupported)
}

// UpdateUser implements [store.Store].
func (s *Store) UpdateUser(ctx context.Context, u *store.User) (*store.User, error) {
	const operation = "update user"
	fields, err := encodeUser(u)
	if err != nil {
		return nil, s.failed(ctx, operation, err)
	}
	id := u.ID
	return one(ctx, s, operation, decodeUser, func(ctx context.Context, v *view) ([]record, error) {
		old, err := v.byID(ctx, s.tables.users, id)
		if err != nil {
			return nil, err
		}
		if err := s.free(ctx, v, id, fields); err != nil {
			return nil, err
		}
		v.overwrite(s.tables.users, old, fields)
		updated := maps.Clone(fields)
		updated["id"] = id
		return []record{updated}, nil
	})
}

// DeleteUser implements [store.UserDeleter]. It is one transaction of the database. If the user has more than some
// hundred sessions, delete these first.
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	_, err := s.run(ctx, "delete user", func(ctx context.Context, v *view) ([]record, error) {
		if _, err := v.byID(ctx, s.tables.users, id); err != nil {
			return nil, err
		}
		// Records with links are deleted before their targets.
		for _, table := range []string{
			s.tables.usersSessions, s.tables.usersAccounts, s.tables.sessions, s.tables.accounts, s.tables.passkeys,
		} {
			owned, err := v.query(ctx, table, map[string]any{"user.id": id})
			if err != nil {
				return nil, err
			}
			for _, r := range owned {
				v.remove(table, r.id())
			}
		}
		records, err := orNone(s.recordsOf(id, ""))(ctx, v)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			v.remove(s.tables.records, r.id())
		}
		v.remove(s.tables.users, id)
		return nil, nil
	})
	return err
}
