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

// CreateSession implements [store.SessionStore]. It returns ErrNotFound if the user does not exist.
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

// SessionAndUser implements [store.SessionStore] with one request.
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

// UpdateSession implements [store.SessionStore]. It is one request for a session that this package created. A session
// of another program takes another read.
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

// atOnce is the number of sessions, tokens or records that one request deletes.
const atOnce = 100

// DeleteSessions implements [store.SessionLister]. Outside a transaction it deletes in batches.
func (s *Store) DeleteSessions(ctx context.Context, userID string) (int, error) {
	return s.removeAll(ctx, "delete sessions", s.owned(s.tables.sessions, userID), s.removeSession)
}

func (s *Store) removeSession(ctx context.Context, v *view, r record) error {
	return s.removeJoined(ctx, v, s.tables.usersSessions, "session.id", s.tables.sessions, r.id())
}

// removeAll deletes what find returns, in batches.
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
