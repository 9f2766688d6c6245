package dynamodb

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/core/store"
)

func sessionOf(of item) (*store.Session, error) {
	expires, err := fromSeconds(of, "expires")
	return &store.Session{
		Token: store.Secret(plain(of, "sessionToken")), UserID: plain(of, "userId"), Expires: expires,
	}, err
}

// CreateSession implements [store.SessionStore]. ErrNotFound: there is no such user. ErrConflict: the token is taken.
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
	if errors.Is(err, store.ErrNotFound) { // deleted in this moment
		_, err = s.take(ctx, k, entryOfSession)
		if err == nil {
			err = store.ErrNotFound
		}
	}
	return err
}

func entryOfSession(of item) key { return sessionEntry(plain(of, "userId"), plain(of, "sessionToken")) }

// SessionAndUser implements [store.SessionStore]: one read. A second one is made for a session whose user is being
// changed in this moment, or is too large to be copied: 300 KB.
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

// UpdateSession implements [store.SessionStore]: one update of an item that is there.
func (s *Store) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return failed(ctx, "extend session", s.mustUpdate(ctx, sessionKey(token), item{"expires": seconds(expires)}))
}

// mustUpdate sets attributes of an item that is there, or ErrNotFound.
func (s *Store) mustUpdate(ctx context.Context, k key, set item) error {
	err := s.update(ctx, k, set, nil, condition{})
	if errors.Is(err, errCondition) {
		if ended := ctx.Err(); ended != nil {
			return ended
		}
		return store.ErrNotFound
	}
	return err
}

// DeleteSession implements [store.SessionStore]. Of any number of concurrent calls one gets the session.
func (s *Store) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	const operation = "delete session"
	old, err := s.take(ctx, sessionKey(token), entryOfSession)
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	session, err := sessionOf(old)
	return session, failed(ctx, operation, err)
}

func (s *Store) sessionsOf(ctx context.Context, userID string) ([]item, error) {
	return s.list(ctx, userID, "SESSION#", func(entry item) key { k, _ := s.ownKey(entry); return k })
}

// Sessions implements [store.SessionLister], those that end first coming first.
func (s *Store) Sessions(ctx context.Context, userID string) (all []*store.Session, err error) {
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

// DeleteSessions implements [store.SessionLister]: two requests for each session.
func (s *Store) DeleteSessions(ctx context.Context, userID string) (n int, err error) {
	const operation = "delete sessions"
	items, err := s.sessionsOf(ctx, userID)
	if err != nil {
		return 0, failed(ctx, operation, err)
	}
	for _, of := range items {
		_, err := s.take(ctx, s.keyOf(of), entryOfSession)
		if errors.Is(err, store.ErrNotFound) {
			continue // another call did
		}
		if err != nil {
			return n, failed(ctx, operation, err)
		}
		n++
	}
	return n, nil
}

// CleansItself implements [store.SelfCleaner]: time to live is the engine's own, and DeleteExpired reads all.
func (s *Store) CleansItself() bool { return true }

// DeleteExpired implements [store.Cleaner]. It reads the whole table, which costs accordingly; DynamoDB's time to live
// removes sessions, tokens and records for nothing, but not the entries of sessions and records, which this does too.
//
// When the context ends, what is left is counted in the next megabyte at most.
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) (n int, err error) {
	const operation = "delete expired sessions"
	old := is("expires", "<", seconds(now))
	stale := old.or(is(untilName, "<", seconds(now)))
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{
		TableName: &s.layout.Table, ConsistentRead: aws.Bool(true),
		FilterExpression:         aws.String(stale.text),
		ExpressionAttributeNames: stale.names, ExpressionAttributeValues: stale.values,
	})
	var from item // where the page begins that is under way
	stopped := func(err error) error {
		return store.WithLeft(ctx, failed(ctx, operation, err), func(ctx context.Context) (int, bool, error) {
			return s.left(ctx, from, old)
		})
	}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return n, stopped(err)
		}
		for _, of := range page.Items {
			gone, err := s.clean(ctx, of, old)
			if err != nil {
				return n, stopped(err)
			}
			n += gone
		}
		from = page.LastEvaluatedKey
	}
	return n, nil
}

// left counts what has expired by one request, from a place in the table on, and says whether the table goes on.
func (s *Store) left(ctx context.Context, from item, old condition) (rows int, more bool, err error) {
	page, err := s.client.Scan(ctx, &dynamodb.ScanInput{
		TableName: &s.layout.Table, Select: types.SelectCount, Limit: aws.Int32(store.MostLeft), ExclusiveStartKey: from,
		FilterExpression:         aws.String(old.text),
		ExpressionAttributeNames: old.names, ExpressionAttributeValues: old.values,
	})
	if err != nil {
		return 0, false, err
	}
	return int(page.Count), len(page.LastEvaluatedKey) > 0, nil
}

// clean removes an item that has expired, as long as it has not been extended meanwhile, or the entry of a session or
// record that is gone.
func (s *Store) clean(ctx context.Context, of item, old condition) (int, error) {
	k := s.keyOf(of)
	switch kind, rest := cut(k.partition); kind {
	case "USER":
		own, ok := s.ownKey(of)
		if !ok || of[untilName] == nil {
			return 0, nil
		}
		there, err := s.get(ctx, own)
		if err != nil || len(there) > 0 {
			return 0, err
		}
		return 0, s.discard(ctx, k, of)
	case "SESSION", "VT", "REC":
		gone, err := s.remove(ctx, k, old)
		if err != nil || len(gone) == 0 {
			return 0, ignored(err)
		}
		switch user := plain(gone, "userId"); {
		case kind == "SESSION":
			err = s.discard(ctx, sessionEntry(user, rest), gone)
		case kind == "REC" && user != "":
			err = s.discard(ctx, recordEntry(user, rest), gone)
		}
		return 1, err
	}
	return 0, nil
}
