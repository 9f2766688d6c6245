package dynamodb

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/core/store"
)

// sessionStore implements the session methods of a Store.
type sessionStore struct{ copies }

func sessionOf(of item) (*store.Session, error) {
	expires, err := fromSeconds(of, "expires")
	return &store.Session{
		Token: store.Secret(plain(of, "sessionToken")), UserID: plain(of, "userId"), Expires: expires,
	}, err
}

// CreateSession implements [store.SessionStore]. It returns ErrNotFound if the user does not exist, and ErrConflict if
// the token exists.
func (s *sessionStore) CreateSession(ctx context.Context, session *store.Session) error {
	return failed(ctx, "create session", s.createSession(ctx, session))
}

func (s *sessionStore) createSession(ctx context.Context, session *store.Session) error {
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
func (s *sessionStore) SessionAndUser(ctx context.Context, token string) (*store.Session, *store.User, error) {
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
func (s *sessionStore) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return failed(ctx, "extend session", s.mustUpdate(ctx, sessionKey(token), item{"expires": seconds(expires)}))
}

// DeleteSession implements [store.SessionStore]. Of concurrent calls only one gets the session.
func (s *sessionStore) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	const operation = "delete session"
	old, err := s.take(ctx, sessionKey(token), entryOfSession)
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	session, err := sessionOf(old)
	return session, failed(ctx, operation, err)
}

func (s *sessionStore) sessionsOf(ctx context.Context, userID string) ([]item, error) {
	return s.list(ctx, userID, "SESSION#", func(entry item) key { k, _ := s.ownKey(entry); return k })
}

// Sessions implements [store.SessionLister]. The list is ordered by expiry.
func (s *sessionStore) Sessions(ctx context.Context, userID string) (all []*store.Session, err error) {
	const operation = "list sessions"
	items, err := s.sessionsOf(ctx, userID)
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	for _, of := range items {
		session, err := sessionOf(of)
		if err != nil {
			return nil, failed(ctx, operation, err)
		}
		all = append(all, session)
	}
	slices.SortFunc(all, func(a, b *store.Session) int { return a.Expires.Compare(b.Expires) })
	return all, nil
}

// DeleteSessions implements [store.SessionLister] with two requests for each session.
func (s *sessionStore) DeleteSessions(ctx context.Context, userID string) (n int, err error) {
	const operation = "delete sessions"
	items, err := s.sessionsOf(ctx, userID)
	if err != nil {
		return 0, failed(ctx, operation, err)
	}
	for _, of := range items {
		_, err := s.take(ctx, s.keyOf(of), entryOfSession)
		if errors.Is(err, store.ErrNotFound) {
			continue // another call has deleted it
		}
		if err != nil {
			return n, failed(ctx, operation, err)
		}
		n++
	}
	return n, nil
}
