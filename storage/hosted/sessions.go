package hosted

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

func (s *Store) session(ctx context.Context, v *view, token string, columns ...string) (record, error) {
	if impossible(token) {
		return nil, store.ErrNotFound
	}
	return first(v.query(ctx, s.tables.sessions, map[string]any{"sessionToken": token}, columns...))
}

// CreateSession implements [store.SessionStore]; ErrNotFound when there is no such user.
func (s *Store) CreateSession(ctx context.Context, session *store.Session) error {
	const operation = "create session"
	token, user := string(session.Token), session.UserID
	expires, err := encodeTime(session.Expires)
	if err == nil && impossible(token) {
		err = errImpossible
	}
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	_, err = s.run(ctx, operation, func(ctx context.Context, v *view) ([]record, error) {
		switch _, err := s.session(ctx, v, token); {
		case err == nil:
			return nil, store.ErrConflict
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
		if _, err := v.byID(ctx, s.tables.users, user); err != nil {
			return nil, err
		}
		id := recordID("session", token)
		v.insert(s.tables.sessions, id, record{"sessionToken": token, "expires": expires, "user": linkTo(user)})
		v.insert(s.tables.usersSessions, id, record{"user": linkTo(user), "session": linkTo(id)})
		return nil, nil
	})
	return err
}

// SessionAndUser implements [store.SessionStore]. It is one request.
func (s *Store) SessionAndUser(ctx context.Context, token string) (*store.Session, *store.User, error) {
	const operation = "read session"
	out, err := s.run(ctx, operation, func(ctx context.Context, v *view) ([]record, error) {
		session, err := s.session(ctx, v, token, "user.*")
		if err != nil {
			return nil, err
		}
		user, err := s.expanded(ctx, v, session)
		return []record{session, user}, err
	})
	if err != nil {
		return nil, nil, err
	}
	session, err := decodeSession(out[0])
	if err != nil {
		return nil, nil, s.failed(ctx, operation, err)
	}
	user, err := decodeUser(out[1])
	return session, user, s.failed(ctx, operation, err)
}

// UpdateSession implements [store.SessionStore]. It is one request for a session that this package has made, and a look
// more for one that another program has.
func (s *Store) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	const operation = "extend session"
	if impossible(token) {
		return store.ErrNotFound
	}
	at, err := encodeTime(expires)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	look := s.tx != nil
	_, err = s.run(ctx, operation, func(ctx context.Context, v *view) ([]record, error) {
		session := record{"id": recordID("session", token)}
		if look {
			var err error
			if session, err = s.session(ctx, v, token); err != nil {
				return nil, err
			}
		}
		look = true
		v.update(s.tables.sessions, session, record{"expires": at})
		return nil, nil
	})
	return err
}

// DeleteSession implements [store.SessionStore].
func (s *Store) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	return one(ctx, s, "delete session", decodeSession, func(ctx context.Context, v *view) ([]record, error) {
		session, err := s.session(ctx, v, token)
		if err != nil {
			return nil, err
		}
		err = s.removeJoined(ctx, v, s.tables.usersSessions, "session.id", s.tables.sessions, session.id())
		return []record{session}, err
	})
}

// Sessions implements [store.SessionLister].
func (s *Store) Sessions(ctx context.Context, userID string) ([]*store.Session, error) {
	return list(ctx, s, "list sessions", decodeSession, s.owned(s.tables.sessions, userID))
}

// atOnce is how many sessions, tokens or records are removed by one request.
const atOnce = 100

// DeleteSessions implements [store.SessionLister]. Outside a transaction they go some at a time.
func (s *Store) DeleteSessions(ctx context.Context, userID string) (int, error) {
	return s.removeAll(ctx, "delete sessions", s.owned(s.tables.sessions, userID), s.removeSession)
}

func (s *Store) removeSession(ctx context.Context, v *view, r record) error {
	return s.removeJoined(ctx, v, s.tables.usersSessions, "session.id", s.tables.sessions, r.id())
}

// removeAll removes what find finds, some at a time.
func (s *Store) removeAll(
	ctx context.Context, operation string, find step, remove func(ctx context.Context, v *view, r record) error,
) (n int, err error) {
	for {
		out, err := s.run(ctx, operation, func(ctx context.Context, v *view) ([]record, error) {
			found, err := find(ctx, v)
			found = found[:min(len(found), atOnce)]
			for _, r := range found {
				if err := remove(ctx, v, r); err != nil {
					return nil, err
				}
			}
			return found, err
		})
		n += len(out)
		if err != nil || len(out) < atOnce {
			return n, err
		}
	}
}

// DeleteExpired implements [store.Cleaner]. It reads at most 200 sessions, tokens or records by a request, and removes
// 100 by another. When the context ends, what is left is counted in the first 200 of each.
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) (int, error) {
	const operation = "delete expired sessions"
	at, err := encodeTime(now)
	if err != nil {
		return 0, s.failed(ctx, operation, err)
	}
	filter := map[string]any{"expires": map[string]any{"$lt": at}}
	n, err := s.deleteExpired(ctx, operation, filter)
	if s.tx == nil {
		err = store.WithLeft(ctx, err, func(ctx context.Context) (int, bool, error) { return s.left(ctx, filter) })
	}
	return n, err
}

// left counts what has expired, as far as one page of each table shows it.
func (s *Store) left(ctx context.Context, filter map[string]any) (rows int, more bool, err error) {
	for _, table := range []string{s.tables.sessions, s.tables.tokens, s.tables.records} {
		list, next, err := s.view().page(ctx, table, filter, nil)
		if err != nil && (table != s.tables.records || !errors.Is(err, errNoTable)) {
			return rows, more, err
		}
		rows, more = rows+len(list), more || next != nil
	}
	return rows, more, nil
}

func (s *Store) deleteExpired(ctx context.Context, operation string, filter map[string]any) (int, error) {
	expired := func(table string) step {
		return func(ctx context.Context, v *view) ([]record, error) {
			if s.tx != nil { // which sees what it has removed itself
				return v.query(ctx, table, filter)
			}
			list, _, err := v.page(ctx, table, filter, nil)
			return list, err
		}
	}
	find := expired(s.tables.sessions)
	sessions, err := s.removeAll(ctx, operation, find, func(ctx context.Context, v *view, r record) error {
		// A deletion cannot ask for a version; it may be extended meanwhile.
		v.overwrite(s.tables.sessions, r, record{"expires": r["expires"]})
		return s.removeSession(ctx, v, r)
	})
	if err != nil {
		return sessions, err
	}
	tokens, err := s.removeAll(ctx, operation, expired(s.tables.tokens), func(_ context.Context, v *view, r record) error {
		v.remove(s.tables.tokens, r.id())
		return nil
	})
	if err != nil {
		return sessions + tokens, err
	}
	records, err := s.removeAll(ctx, operation, orNone(expired(s.tables.records)), s.removeAsRead)
	return sessions + tokens + records, err
}
