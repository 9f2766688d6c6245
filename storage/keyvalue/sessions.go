package keyvalue

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// CreateSession implements [store.SessionStore]. It returns ErrNotFound if the user does not exist.
func (s *Store) CreateSession(ctx context.Context, session *store.Session) error {
	const operation = "create session"
	expires, err := encodeExpires(string(session.Token), session.Expires)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	token, plain := escaped(string(session.Token)), session.UserID
	end := expiringSessions.end(session.Expires, token)
	_, err = s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
		if impossible(plain) {
			return nil, store.ErrNotFound
		}
		id := escaped(plain)
		values, err := v.get(ctx, key("session", token), key("user", id))
		switch {
		case err != nil:
			return nil, err
		case values[0].Found:
			return nil, store.ErrConflict
		case !values[1].Found:
			return nil, store.ErrNotFound
		}
		if err := v.restoreAddress(ctx, plain, values[1].Text); err != nil {
			return nil, err
		}
		v.put(key("session", token), values[1].Text)
		v.put(key("expires", token), expires)
		v.add(allSessions, token)
		v.add(allEnds, end)
		v.add(key("user-sessions", id), token)
		return nil, nil
	})
	return err
}

// manyStale is the maximum number of stale users that a session lookup reads.
const manyStale = 100

// SessionAndUser implements [store.SessionStore]. It is one round trip. While the user is being changed it is two, if
// the engine cannot read the user in the first.
func (s *Store) SessionAndUser(ctx context.Context, token string) (*store.Session, *store.User, error) {
	const operation = "read session"
	out, err := s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
		return s.sessionAndUser(ctx, v, token)
	})
	if err != nil {
		return nil, nil, err
	}
	user, err := decodeUser(out[0])
	if err != nil {
		return nil, nil, s.failed(ctx, operation, err)
	}
	expires, err := decode[ending](out[1])
	if err != nil {
		return nil, nil, s.failed(ctx, operation, err)
	}
	return &store.Session{Token: store.Secret(token), UserID: user.ID, Expires: expires.Expires}, user, nil
}

// sessionAndUser reads the documents of a session's user and of its expiry.
func (s *Store) sessionAndUser(ctx context.Context, v *view, token string) (out []string, err error) {
	if impossible(token) {
		return nil, store.ErrNotFound
	}
	q := sessionQuery(token, s.tx == nil)
	var got Answer
	if s.tx == nil {
		got, err = s.db.engine.Read(ctx, q)
	} else {
		got, err = v.read(ctx, q) // including pending writes
	}
	if err != nil {
		return nil, err
	}
	return s.sessionIn(ctx, v, q.Keys[0], &got)
}

// sessionQuery returns the query for a session with its copy of the user, for its expiry, and for the users with stale
// copies.
func sessionQuery(token string, owner bool) Query {
	name := escaped(token)
	return Query{
		Keys:  []string{key("session", name), key("expires", name)},
		Sets:  []Page{{Set: staleUsers, Limit: manyStale}},
		Owner: owner,
	}
}

// sessionIn extracts the documents from the result of sessionQuery. It reads the user if the copy is stale.
func (s *Store) sessionIn(ctx context.Context, v *view, record string, got *Answer) ([]string, error) {
	out, err := found(got.Values, nil)
	if err != nil {
		return nil, err
	}
	if s.tx != nil {
		v.check(record)
	}
	if got.Owner != nil {
		if !got.Owner.Found {
			return nil, store.ErrNotFound
		}
		out[0] = got.Owner.Text
		return out, nil
	}
	o, err := decode[owner](out[0])
	if err != nil {
		return nil, err
	}
	id, stale := escaped(o.ID), got.Names[0]
	if len(stale) >= manyStale || slices.Contains(stale, id) {
		user, err := found(v.get(ctx, key("user", id)))
		if err != nil {
			return nil, err
		}
		out[0] = user[0]
	}
	return out, nil
}

func decodeSession(document, userID string) (*store.Session, error) {
	d, err := decode[ending](document)
	if err != nil {
		return nil, err
	}
	return &store.Session{Token: store.Secret(d.SessionToken), UserID: userID, Expires: d.Expires}, nil
}

// UpdateSession implements [store.SessionStore]. It is one write without a read.
func (s *Store) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	const operation = "extend session"
	if impossible(token) {
		return store.ErrNotFound
	}
	document, err := encodeExpires(token, expires)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	session, ends := key("session", escaped(token)), key("expires", escaped(token))
	if s.tx != nil {
		_, err := s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
			if _, err := found(v.get(ctx, session)); err != nil {
				return nil, err
			}
			v.put(ends, document)
			return nil, nil
		})
		return err
	}
	if err := ctx.Err(); err != nil {
		return s.failed(ctx, operation, err)
	}
	err = s.db.engine.Commit(ctx, Change{Checks: []Check{{Key: session, Is: Present}}, Put: []Record{{ends, document}}})
	if errors.Is(err, ErrChanged) {
		err = store.ErrNotFound
	}
	return s.failed(ctx, operation, err)
}

// DeleteSession implements [store.SessionStore].
func (s *Store) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	const operation = "delete session"
	out, err := s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
		if impossible(token) {
			return nil, store.ErrNotFound
		}
		name := escaped(token)
		out, err := found(v.peek(ctx, key("session", name), key("expires", name)))
		if err != nil {
			return nil, err
		}
		v.check(key("session", name))
		o, err := decode[owner](out[0])
		if err != nil {
			return nil, err
		}
		v.removeSession(escaped(o.ID), name)
		return []string{o.ID, out[1]}, nil
	})
	if err != nil {
		return nil, err
	}
	session, err := decodeSession(out[1], out[0])
	return session, s.failed(ctx, operation, err)
}

func (p *pending) removeSession(user, token string) {
	p.remove(key("session", token), key("expires", token))
	p.drop(allSessions, token)
	p.drop(key("user-sessions", user), token)
}

// Sessions implements [store.SessionLister].
func (s *Store) Sessions(ctx context.Context, userID string) ([]*store.Session, error) {
	read := func(document string) (*store.Session, error) { return decodeSession(document, userID) }
	return list(ctx, s, "list sessions", read, owned("user-sessions", "expires", userID))
}

// DeleteSessions implements [store.SessionLister]. Outside a transaction it deletes in batches.
func (s *Store) DeleteSessions(ctx context.Context, userID string) (int, error) {
	if impossible(userID) {
		return 0, nil
	}
	user := escaped(userID)
	remove := func(ctx context.Context, v *view, tokens []string) (out []string, err error) {
		values, err := v.get(ctx, keys("session", tokens)...)
		for i, value := range values {
			if value.Found {
				v.removeSession(user, tokens[i])
				out = append(out, tokens[i])
			}
		}
		return out, err
	}
	return s.inBatches(ctx, "delete sessions", key("user-sessions", user), everything, remove)
}

func everything(_ context.Context, _ *view, names []string) ([]string, error) { return names, nil }

func encodeExpires(token string, expires time.Time) (string, error) {
	var o object
	o.text("sessionToken", token)
	o.time("expires", expires)
	return o.done()
}
