package dynamodb

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/core/store"
)

func sessionOf(of item) (*store.Session, error) {
	expires, err := fromSeconds(of, "expires")
	return &store.Session{
		Token: store.Secret(plain(of, "sessionToken")), UserID: plain(of, "userId"), Expires: expires,
	}, err
}

// CreateSession implements [store.SessionStore]. It returns ErrNotFound if the user does not exist, and ErrConflict if
// the token exists.
func (s *Store) CreateSession(ctx context.Context, session *store.Session) error {
	return failed(ctx, "create session", s.createSession(ctx, session))
}

func (s *Store) createSession(ctx context.Context, session *store.Session) error {
	token := string(session.Token)
	k := sessionKey(token)
	ends := seconds(session.Expires)
	attributes := item{"type": str("SESSION"), "sessionToken": str(token), "expires": ends}
	attributes = s.indexed(attributes, "SESSION#"+token, "SESSION#"+token)
	err := s.add(ctx, session.UserID, sessionEntry(session.UserID, token), k, item{untilName: ends}, attributes)
	if err != nil {
		return err
	}
	err = s.publish(ctx, session.UserID, &k)
	if errors.Is(err, store.ErrNotFound) { // deleted meanwhile
		_, err = s.take(ctx, k, entryOfSession)
		if err == nil {
			err = store.ErrNotFound
		}
	}
	return err
}

func entryOfSession(of item) key { return sessionEntry(plain(of, "userId"), plain(of, "sessionToken")) }

// SessionAndUser implements [store.SessionStore] with one read. It takes a second read if the user is being changed, or
// is too large to be copied: 300 KB.
func (s *Store) SessionAndUser(ctx context.Context, token string) (*store.Session, *store.User, error) {
	const operation = "read session"
	of, err := s.must(ctx, sessionKey(token))
	if err != nil {
		return nil, nil, failed(ctx, operation, err)
	}
	session, err := sessionOf(of)
	if err != nil {
		return nil, nil, failed(ctx, operation, err)
	}
	copied, ok := of[copyName].(*types.AttributeValueMemberM)
	if !ok || of[copiedName] == nil {
		u, err := s.readUser(ctx, operation, session.UserID)
		if err != nil {
			return nil, nil, err
		}
		return session, u, nil
	}
	u, err := s.userOf(copied.Value)
	if err != nil {
		return nil, nil, failed(ctx, operation, err)
	}
	return session, u, nil
}

// UpdateSession implements [store.SessionStore] with one update.
func (s *Store) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return failed(ctx, "extend session", s.mustUpdate(ctx, sessionKey(token), item{"expires": seconds(expires)}))
}

// DeleteSession implements [store.SessionStore]. Of concurrent calls only one gets the session.
func (s *Store) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	const operation = "delete session"
	old, err := s.take(ctx, sessionKey(token), entryOfSession)
	return decoded(ctx, operation, old, err, sessionOf)
}

// Sessions implements [store.SessionLister]. The list is ordered by expiry.
func (s *Store) Sessions(ctx context.Context, userID string) (all []*store.Session, err error) {
	const operation = "list sessions"
	items, err := s.list(ctx, userID, "SESSION#")
	all, err = allDecoded(ctx, operation, items, err, sessionOf)
	slices.SortFunc(all, func(a, b *store.Session) int { return a.Expires.Compare(b.Expires) })
	return all, err
}

// DeleteSessions implements [store.SessionLister] with two requests for each session.
func (s *Store) DeleteSessions(ctx context.Context, userID string) (int, error) {
	items, err := s.list(ctx, userID, "SESSION#")
	return takeAll(ctx, "delete sessions", items, err, func(of item) error {
		_, err := s.take(ctx, s.keyOf(of), entryOfSession)
		return err
	})
}
