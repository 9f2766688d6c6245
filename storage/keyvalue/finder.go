package keyvalue

import (
	"context"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
)

// ListUsers implements [store.UserFinder]. It scans the keys of users, and then reads the users of the page. On a
// database without an index over keys, such as Redis, the scan passes over all other keys too; pages can then have few
// users. In a transaction it does not see the pending writes.
func (s *Store) ListUsers(ctx context.Context, cursor string, limit int) (all []*store.User, next string, err error) {
	all, err = list(ctx, s, "list users", decodeUser, func(ctx context.Context, _ *view) (out []string, err error) {
		var ids []string
		if ids, next, err = s.scan(ctx, "user", "", cursor, limit); err != nil {
			return nil, err
		}
		_, out, err = s.texts(ctx, keys("user", ids))
		return out, err
	})
	return all, next, err
}

// ListUsersByEmail implements [store.UserFinder]. It scans the index entries of addresses, and then reads the users of
// the page. Without an index over keys it returns [store.ErrUnsupported]. In a transaction it does not see the pending
// writes.
func (s *Store) ListUsersByEmail(
	ctx context.Context, prefix, cursor string, limit int,
) (all []*store.User, next string, err error) {
	const operation = "list users by e-mail"
	switch {
	case !s.db.engine.Sorted():
		return nil, "", s.failed(ctx, operation, store.ErrUnsupported)
	case impossible(prefix):
		return nil, "", s.failed(ctx, operation, ctx.Err())
	}
	begin := ""
	if prefix != "" {
		begin = escaped(prefix)
	}
	read := func(ctx context.Context, _ *view) (out []string, err error) {
		var emails []string
		if emails, next, err = s.scan(ctx, "email", begin, cursor, limit); err != nil {
			return nil, err
		}
		entries, ids, err := s.texts(ctx, keys("email", emails))
		if err != nil {
			return nil, err
		}
		users := make([]string, len(ids))
		for i, id := range ids {
			users[i] = key("user", escaped(id))
		}
		there, texts, err := s.texts(ctx, users)
		if err != nil {
			return nil, err
		}
		documents := map[string]string{}
		for i, user := range there {
			documents[user] = texts[i]
		}
		for i, entry := range entries {
			document, found := documents[users[i]]
			if !found {
				continue
			}
			o, err := decode[owner](document)
			if err != nil {
				return nil, err
			}
			// The entry can be outdated: see lost.go.
			if emailKey(o.Email) == entry && strings.HasPrefix(o.Email, prefix) {
				out = append(out, document)
			}
		}
		return out, nil
	}
	all, err = list(ctx, s, operation, decodeUser, read)
	return all, next, err
}

// scan returns a page of the keys kind/…, without the kind, whose rest begins with prefix. The cursor has no kind
// either, so that a made-up cursor cannot select keys of another kind.
func (s *Store) scan(
	ctx context.Context, kind, prefix, cursor string, limit int,
) (names []string, next string, err error) {
	if impossible(cursor) {
		return nil, "", store.ErrCursor
	}
	begin, at := key(kind, ""), cursor
	if cursor != "" && s.db.engine.Sorted() {
		at = begin + cursor
	}
	names, next, err = s.db.engine.Scan(ctx, begin+prefix, at, store.PageLimit(limit))
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], begin)
	}
	slices.Sort(names)
	return slices.Compact(names), strings.TrimPrefix(next, begin), err
}

// texts reads records, and returns the keys and texts of those that exist.
func (s *Store) texts(ctx context.Context, keys []string) (there, out []string, err error) {
	for some := range slices.Chunk(keys, pageSize) {
		got, err := s.db.engine.Read(ctx, Query{Keys: some})
		if err != nil {
			return nil, nil, err
		}
		for i, value := range got.Values {
			if value.Found { // it may be deleted meanwhile
				there, out = append(there, some[i]), append(out, value.Text)
			}
		}
	}
	return there, out, nil
}
