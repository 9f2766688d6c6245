package sqlstore

import (
	"context"
	"errors"
	"hash/maphash"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/store/batch"
)

// lookUp is a look-up of a session and its user. One allocation: every page request makes it.
type lookUp struct {
	token string
	row   sessionWithUser
	found *store.User // nil: there is no session
	err   error       // of it alone, when it was asked for with others
}

// sessionWithUser scans a session with its user. Of the session it takes its end: whose it is says the user's row.
type sessionWithUser struct {
	expires timeColumn
	user    userRow
	into    [9]any
}

// SessionAndUser implements [store.SessionStore]: one query over two unique indexes, for a session or for several that
// are asked for at once.
func (s *sessionStore) SessionAndUser(ctx context.Context, token string) (*store.Session, *store.User, error) {
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

func (s *sessionStore) find(ctx context.Context, l *lookUp) error {
	if s.lookUps == nil || s.tx != nil {
		return s.lookUpOne(ctx, l)
	}
	if skip, _ := s.storable("read session", reads, []any{l.token}); skip { // it would fail for others too
		return nil
	}
	switch err := s.lookUps.Do(ctx, l); {
	case err == nil:
		return l.err
	case err == ctx.Err(): //nolint:errorlint // that of Do itself: those of statements name the operation
		return s.failed(ctx, "read session", err, nil)
	default:
		return err
	}
}

func (r *runner) lookUpOne(ctx context.Context, l *lookUp) error {
	_, err := r.each(ctx, "read session", r.sessionAndUser, []any{l.token}, func(rows Rows) (err error) {
		l.found, err = l.row.scan(rows)
		return err
	})
	return err
}

// groups are for how many tokens there are statements: an engine that plans each list anew takes longer for that than
// for several look-ups. The largest is for as many as [batch.Calls] gives.
var groups = [...]int{4, batch.Most}

// seed is of hashes by which tokens are compared first: how long a comparison of two visitors' tokens takes would tell
// one of them how they begin.
var seed = maphash.MakeSeed()

// lookUpAll is lookUpOne for several, of which some may be for the same session: each gets a user of its own.
func (r *runner) lookUpAll(ctx context.Context, all []*lookUp) error {
	size := 0
	for groups[size] < len(all) {
		size++
	}
	tokens := make([]any, groups[size])
	for i := range tokens {
		tokens[i] = all[min(i, len(all)-1)].token // the last fills what is left
	}
	var hashes [batch.Most]uint64
	for i, l := range all {
		hashes[i] = maphash.String(seed, l.token)
	}
	token, row := text{}, r.sessionWithUser()
	_, err := r.each(ctx, "read sessions", r.sessionsAndUsers[size], tokens, func(rows Rows) error {
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
	for _, l := range all { // one of the tokens may be what the engine refuses
		l.found = nil
		l.err = r.lookUpOne(ctx, l)
	}
	return nil
}

func (e *engine) sessionWithUser() sessionWithUser {
	return sessionWithUser{expires: timeColumn{engine: e}, user: e.userRow()}
}

// scan reads a row, whose first columns it scans into what it is given.
func (r *sessionWithUser) scan(rows Rows, first ...any) (*store.User, error) {
	into := append(append(r.into[:0], first...), &r.expires)
	if err := rows.Scan(r.user.into(into)...); err != nil {
		return nil, err
	}
	return r.user.user()
}
