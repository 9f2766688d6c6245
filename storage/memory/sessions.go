package memory

import (
	"context"
	"maps"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// CreateSession implements [store.SessionStore].
func (s *Store) CreateSession(ctx context.Context, session *store.Session) error {
	return s.locked(ctx, func(d *data) error {
		if _, taken := d.sessions[string(session.Token)]; taken {
			return store.ErrConflict
		}
		if _, err := get(d.users, session.UserID); err != nil {
			return err
		}
		d.sessions[string(session.Token)] = *session
		return nil
	})
}

// SessionAndUser implements [store.SessionStore].
func (s *Store) SessionAndUser(
	ctx context.Context, token string,
) (session *store.Session, u *store.User, err error) {
	err = s.locked(ctx, func(d *data) error {
		if session, err = get(d.sessions, token); err != nil {
			return err
		}
		u, err = d.user(session.UserID)
		return err
	})
	return session, u, err
}

// UpdateSession implements [store.SessionStore].
func (s *Store) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return s.locked(ctx, func(d *data) error {
		session, err := get(d.sessions, token)
		if err != nil {
			return err
		}
		session.Expires = expires
		d.sessions[token] = *session
		return nil
	})
}

// DeleteSession implements [store.SessionStore].
func (s *Store) DeleteSession(ctx context.Context, token string) (session *store.Session, err error) {
	err = s.locked(ctx, func(d *data) error {
		session, err = get(d.sessions, token)
		delete(d.sessions, token)
		return err
	})
	return session, err
}

// Sessions implements [store.SessionLister].
func (s *Store) Sessions(ctx context.Context, userID string) (out []*store.Session, err error) {
	err = s.locked(ctx, func(d *data) error {
		for _, session := range d.sessions {
			if session.UserID == userID {
				out = append(out, &session)
			}
		}
		return nil
	})
	return out, err
}

// DeleteSessions implements [store.SessionLister].
func (s *Store) DeleteSessions(ctx context.Context, userID string) (n int, err error) {
	err = s.locked(ctx, func(d *data) error {
		n = len(d.sessions)
		maps.DeleteFunc(d.sessions, func(_ string, v store.Session) bool { return v.UserID == userID })
		n -= len(d.sessions)
		return nil
	})
	return n, err
}

type tokenKey struct{ identifier, token string }

// CreateVerificationToken implements [store.VerificationTokenStore].
func (s *Store) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
	return s.locked(ctx, func(d *data) error {
		key := tokenKey{t.Identifier, t.Token}
		if _, taken := d.tokens[key]; taken {
			return store.ErrConflict
		}
		d.tokens[key] = *t
		return nil
	})
}

// UseVerificationToken implements [store.VerificationTokenStore].
func (s *Store) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (t *store.VerificationToken, err error) {
	err = s.locked(ctx, func(d *data) error {
		key := tokenKey{identifier, token}
		t, err = get(d.tokens, key)
		delete(d.tokens, key)
		return err
	})
	return t, err
}
