package sessionstate

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/internal/sessionid"
	"github.com/latchkey-go/latchkey/internal/sessionrecord"
	"github.com/latchkey-go/latchkey/internal/storedtoken"
)

// Rows creates and finds sessions in a store. The cookie contains a random token.
type Rows struct {
	Lifetimes
	Store store.SessionStore
	Now   func() time.Time
	Rand  io.Reader
	// Audience and HashTokens determine the form in which the store contains tokens: see storedtoken.AtRest.
	Audience   string
	HashTokens bool
	// Generate returns a random token. If it is nil, tokens are random UUIDs.
	Generate func() (string, error)
	// Facts reports whether tokens contain the authentication time and methods.
	Facts bool
	// Records stores the records of sessions. It is nil if there are none.
	Records *sessionrecord.Records
	// Created, if not nil, is called before a session is stored.
	Created func()
}

// Found is a stored session and its user.
type Found struct {
	Session *store.Session
	User    *store.User
}

// absoluteEnd returns when Absolute ends the session. The zero time means no limit.
func (s *Rows) absoluteEnd(token string) time.Time {
	if s.Absolute == 0 {
		return time.Time{}
	}
	start := storedtoken.Start(token)
	if start.IsZero() { // created before the limit was set
		return start
	}
	return start.Add(s.Absolute)
}

// AtRest returns a session token in the form that the store contains.
func (s *Rows) AtRest(token string) string {
	return storedtoken.AtRest(token, s.Audience, s.HashTokens)
}

// PublicID returns the public ID of the session of a token.
func (s *Rows) PublicID(token string) string { return sessionid.Of(s.AtRest(token)).String() }

// Delete deletes the session of a token and returns it.
func (s *Rows) Delete(ctx context.Context, token string) (*store.Session, error) {
	record, err := s.Store.DeleteSession(ctx, s.AtRest(token))
	if err == nil && s.Records != nil {
		s.Records.Remove(ctx, s.PublicID(token))
	}
	return record, err
}

// Find looks up a session, and deletes it if it has expired. store.ErrNotFound means that there is no session.
func (s *Rows) Find(ctx context.Context, token string) (*Found, error) {
	record, user, err := s.Store.SessionAndUser(ctx, s.AtRest(token))
	if err != nil {
		return nil, err
	}
	f := &Found{record, user}
	f.Session.Token = store.Secret(token)
	end, now := s.absoluteEnd(token), s.Now()
	if userID, _ := storedtoken.Actor(token); userID != "" {
		end = Earlier(end, storedtoken.Start(token).Add(s.Impersonated))
	}
	if f.Session.Expires.Before(now) || !end.IsZero() && end.Before(now) {
		if _, err := s.Delete(ctx, token); err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		return nil, &audit.Denial{Reason: audit.ReasonExpired, UserID: f.User.ID, Err: store.ErrNotFound}
	}
	return f, nil
}

// Choose returns the first token of a session that exists. It is nil if there is none.
func (s *Rows) Choose(ctx context.Context, tokens []string) (token string, found *Found, err error) {
	for _, token := range tokens {
		found, err := s.Find(ctx, token)
		if !errors.Is(err, store.ErrNotFound) {
			return token, found, err
		}
	}
	return "", nil, nil
}

// DeleteAll deletes the sessions of several tokens. It returns the first one, with its public ID.
func (s *Rows) DeleteAll(ctx context.Context, tokens []string) (first *store.Session, id string, err error) {
	for _, token := range tokens {
		row, err := s.Delete(ctx, token)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return first, id, err
		}
		if first == nil && row != nil {
			first, id = row, s.PublicID(token)
		}
	}
	return first, id, nil
}

// Create stores a session with a new token. short means a short session. sessions is the store, or a transaction of it.
// facts.Start is ignored: the session starts now.
func (s *Rows) Create(
	ctx context.Context, sessions store.SessionStore, userID string, short bool, facts storedtoken.Facts,
) (*store.Session, error) {
	token, err := s.newToken(short, facts)
	if err != nil {
		return nil, err
	}
	record := &store.Session{Token: store.Secret(token), UserID: userID, Expires: s.newExpiry(token)}
	if s.Created != nil {
		s.Created()
	}
	kept := *record
	kept.Token = store.Secret(s.AtRest(token))
	return record, sessions.CreateSession(ctx, &kept)
}

// newExpiry returns the expiry of a session that is used now.
func (s *Rows) newExpiry(token string) time.Time {
	lifetime := s.Of(storedtoken.IsShort(token))
	if userID, _ := storedtoken.Actor(token); userID != "" {
		lifetime = min(lifetime, s.Impersonated)
	}
	return Earlier(s.absoluteEnd(token), s.Now().Add(lifetime))
}

// newToken returns a new token. If sessions carry facts, the token ends with them (see storedtoken.Append). Otherwise,
// with Absolute, it ends with the start of the session, because the table has no column for it. The store does not find
// a token that a client has changed.
func (s *Rows) newToken(short bool, facts storedtoken.Facts) (token string, err error) {
	if s.Generate == nil {
		token, err = random.UUID(s.Rand)
	} else if token, err = panics.Call("Session.GenerateToken", s.Generate); err == nil && token == "" {
		err = errors.New("Session.GenerateToken returned an empty token")
	}
	if err != nil {
		return "", err
	}
	if short {
		token = storedtoken.AppendShort(token)
	}
	switch facts.Start = s.Now(); {
	case s.Facts:
		token = storedtoken.Append(token, facts)
	case s.Absolute > 0:
		token = storedtoken.AppendStart(token, facts.Start)
	}
	return token, nil
}

// Extend extends a session that is used, if it is due. It reports whether the session was extended.
func (s *Rows) Extend(ctx context.Context, record *store.Session) (extended bool, err error) {
	token := string(record.Token)
	age, lifetime := s.Update, s.Of(storedtoken.IsShort(token))
	if lifetime < s.MaxAge { // a short session, whose lifetime may be shorter than Update
		age = min(age, lifetime/2)
	}
	due := record.Expires.Add(age - lifetime)
	if due.After(s.Now()) || s.atAbsoluteEnd(token, record.Expires) {
		return false, nil
	}
	expires := s.newExpiry(token)
	if err := s.Store.UpdateSession(ctx, s.AtRest(token), expires); err != nil {
		return false, err
	}
	record.Expires = expires
	return true, nil
}

// atAbsoluteEnd reports whether a session cannot be extended any more.
func (s *Rows) atAbsoluteEnd(token string, expires time.Time) bool {
	end := s.absoluteEnd(token)
	return !end.IsZero() && !end.After(expires)
}
