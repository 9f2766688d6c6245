package sqlstore

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/sqlpool"
)

func (s *Store) readSession(rows sqlpool.Rows) (*store.Session, error) {
	var token, user text
	expires := timeColumn{engine: s.engine}
	err := rows.Scan(&token, &user, &expires)
	return &store.Session{Token: store.Secret(token.value), UserID: user.value, Expires: expires.at}, err
}

// CreateSession implements [store.SessionStore]. It returns ErrNotFound if the user does not exist, and ErrConflict if
// the token exists.
func (s *Store) CreateSession(ctx context.Context, v *store.Session) error {
	expires, err := s.encodeTime(v.Expires)
	if err != nil {
		return s.failed(ctx, "create session", err, nil)
	}
	args := s.withRecordID(sessions, []any{string(v.Token), expires})
	return s.execOne(ctx, "create session", s.createSession, append(args, s.id(v.UserID))...)
}

// UpdateSession implements [store.SessionStore] with one update.
func (s *Store) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	at, err := s.encodeTime(expires)
	if err != nil {
		return s.failed(ctx, "extend session", err, nil)
	}
	return s.updateOne(ctx, "extend session", s.updateSession, s.session, 1, at, token)
}

// DeleteSession implements [store.SessionStore]. Of concurrent calls only one gets the session.
func (s *Store) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	return deleteOne(ctx, s, "delete session", s.session, s.deleteSession, s.readSession, token)
}

// Sessions implements [store.SessionLister]. The list is ordered by expiry.
func (s *Store) Sessions(ctx context.Context, userID string) ([]*store.Session, error) {
	list, err := query(ctx, s, "list sessions", s.sessions, s.readSession, s.id(userID))
	slices.SortFunc(list, func(a, b *store.Session) int { // not by the database: a column may contain times in two forms
		return cmp.Or(a.Expires.Compare(b.Expires), strings.Compare(string(a.Token), string(b.Token)))
	})
	return list, err
}

// DeleteSessions implements [store.SessionLister].
func (s *Store) DeleteSessions(ctx context.Context, userID string) (int, error) {
	n, err := s.exec(ctx, "delete sessions", s.deleteSessions, s.id(userID))
	return int(n), err
}
