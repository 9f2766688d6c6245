package sqlstore

import (
	"context"
	"errors"
	"hash/maphash"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/batch"
	"github.com/latchkey-go/latchkey/internal/sqlpool"
)

// lookUp is a lookup of a session and its user. It is a single allocation, because every page request makes one.
type lookUp struct {
	token string
	row   sessionWithUser
	found *store.User // nil if there is no session
	err   error       // of this lookup only, when it ran in a batch
}

// sessionWithUser scans a session with its user. Of the session it reads only the expiry; the user's row has the user
// ID.
type sessionWithUser struct {
	expires timeColumn
	user    userRow
	into    [9]any
}

// SessionAndUser implements [store.SessionStore]. It runs one query over two unique indexes. Concurrent lookups may be
// combined into one query.
func (s *Store) SessionAndUser(ctx context.Context, token string) (*store.Session, *store.User, error) {
	l := &lookUp{token: token, row: s.sessionWithUser()}
	err := s.find(ctx, l)
	if err == nil && l.found == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	return &store.Session{Token: store.Secret(token), UserID: l.found.ID, Expires: l.row.expires.at}, l.found, nil
}

func (s *Store) find(ctx context.Context, l *lookUp) error {
	if s.lookUps == nil || s.tx != nil {
		return s.lookUpOne(ctx, l)
	}
	if skip, _ := s.storable("read session", reads, []any{l.token}); skip { // it would fail the whole batch
		return nil
	}
	switch err := s.lookUps.Do(ctx, l); {
	case err == nil:
		return l.err
	case err == ctx.Err(): //nolint:errorlint // from Do itself: errors of statements name the operation
		return s.failed(ctx, "read session", err, nil)
	default:
		return err
	}
}

func (s *Store) lookUpOne(ctx context.Context, l *lookUp) error {
	_, err := s.queryEach(ctx, "read session", s.sessionAndUser, []any{l.token}, func(rows sqlpool.Rows) (err error) {
		l.found, err = l.row.scan(rows)
		return err
	})
	return err
}

// groups are the batch sizes that have a prepared statement. There are only two, because a database that plans each new
// statement takes longer for that than for several lookups. The largest is the maximum batch size of [batch.Calls].
var groups = [...]int{4, batch.Most}

// seed is for hashes that are compared before the tokens. Without them, the duration of a comparison between the tokens
// of two users would reveal to one of them how the other token begins.
var seed = maphash.MakeSeed()

// lookUpAll is lookUpOne for several lookups. Some may be for the same session: each gets its own copy of the user.
func (s *Store) lookUpAll(ctx context.Context, all []*lookUp) error {
	size := 0
	for groups[size] < len(all) {
		size++
	}
	tokens := make([]any, groups[size])
	for i := range tokens {
		tokens[i] = all[min(i, len(all)-1)].token // unused places repeat the last token
	}
	var hashes [batch.Most]uint64
	for i, l := range all {
		hashes[i] = maphash.String(seed, l.token)
	}
	token, row := text{}, s.sessionWithUser()
	_, err := s.queryEach(ctx, "read sessions", s.sessionsAndUsers[size], tokens, func(rows sqlpool.Rows) error {
		user, err := row.scan(rows, &token)
		if err != nil {
			return err
		}
		hash := maphash.String(seed, token.value)
		for i, l := range all {
			if hashes[i] == hash && l.token == token.value {
				l.found, l.row.expires.at = user.Clone(), row.expires.at
			}
		}
		return nil
	})
	if err == nil || ctx.Err() != nil || errors.Is(err, store.ErrUnavailable) {
		return err
	}
	for _, l := range all { // one of the tokens may be a value that the database rejects
		l.found = nil
		l.err = s.lookUpOne(ctx, l)
	}
	return nil
}

func (e *engine) sessionWithUser() sessionWithUser {
	return sessionWithUser{expires: timeColumn{engine: e}, user: e.userRow()}
}

// scan reads a row: first the given destinations, then the columns of a sessionWithUser.
func (r *sessionWithUser) scan(rows sqlpool.Rows, first ...any) (*store.User, error) {
	into := append(append(r.into[:0], first...), &r.expires)
	if err := rows.Scan(r.user.into(into)...); err != nil {
		return nil, err
	}
	return r.user.user()
}
