package core

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/cleanup"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/sessionrecord"
	"github.com/latchkey-go/latchkey/internal/storedtoken"
)

// foundSession is a stored session and its user.
type foundSession struct {
	session *store.Session
	user    *User
}

// sessionRows creates and finds the stored sessions of StrategyDatabase. The cookie contains a random token.
type sessionRows struct {
	config   SessionConfig
	audience string
	store    store.SessionStore
	now      func() time.Time
	rand     io.Reader
	cleaning *cleanup.Schedule
	// facts reports whether tokens contain the authentication time and methods.
	facts bool
	// records stores the records of sessions. It is nil if there are none.
	records *sessionrecord.Records
}

// absoluteEnd returns when Session.AbsoluteMaxAge ends the session. The zero time means no limit.
func (s *sessionRows) absoluteEnd(token string) time.Time {
	if s.config.AbsoluteMaxAge == 0 {
		return time.Time{}
	}
	start := storedtoken.Start(token)
	if start.IsZero() { // created before the limit was set
		return start
	}
	return start.Add(s.config.AbsoluteMaxAge)
}

// atRest returns a session token in the form that the store contains: hashed if Session.HashTokens is on or
// Config.Audience is set.
func (s *sessionRows) atRest(token string) string {
	return storedtoken.AtRest(token, s.audience, s.config.HashTokens)
}

// delete deletes the session of a token and returns it.
func (s *sessionRows) delete(ctx context.Context, token string) (*store.Session, error) {
	kept := s.atRest(token)
	record, err := s.store.DeleteSession(ctx, kept)
	if err == nil && s.records != nil {
		s.records.Remove(ctx, publicID(kept))
	}
	return record, err
}

// find looks up a session, and deletes it if it has expired. ErrNotFound means that there is no session.
func (s *sessionRows) find(ctx context.Context, token string) (*foundSession, error) {
	record, user, err := s.store.SessionAndUser(ctx, s.atRest(token))
	if err != nil {
		return nil, err
	}
	f := &foundSession{record, user}
	f.session.Token = Secret(token)
	end, now := s.absoluteEnd(token), s.now()
	if userID, _ := storedtoken.Actor(token); userID != "" {
		end = earlier(end, storedtoken.Start(token).Add(impersonationAge))
	}
	if f.session.Expires.Before(now) || !end.IsZero() && end.Before(now) {
		if _, err := s.delete(ctx, token); err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		return nil, &audit.Denial{Reason: audit.ReasonExpired, UserID: f.user.ID, Err: ErrNotFound}
	}
	return f, nil
}

func methodsOf(texts []string) (methods []amr.Method) {
	for _, m := range texts {
		methods = append(methods, amr.Method(m))
	}
	return methods
}

// create stores a session with a new token. sessions is the store, or a transaction of it.
func (s *sessionRows) create(
	ctx context.Context, sessions store.SessionStore, userID string, by authentication,
) (*store.Session, error) {
	token, err := s.newToken(by)
	if err != nil {
		return nil, err
	}
	record := &store.Session{Token: Secret(token), UserID: userID, Expires: s.newExpiry(token)}
	s.cleaning.Perhaps()
	kept := *record
	kept.Token = Secret(s.atRest(token))
	return record, sessions.CreateSession(ctx, &kept)
}

// newExpiry returns the expiry of a session that is used now.
func (s *sessionRows) newExpiry(token string) time.Time {
	lifetime := s.config.lifetime(storedtoken.IsShort(token))
	if userID, _ := storedtoken.Actor(token); userID != "" {
		lifetime = min(lifetime, impersonationAge)
	}
	expires := s.now().Add(lifetime)
	if end := s.absoluteEnd(token); !end.IsZero() && end.Before(expires) {
		return end
	}
	return expires
}

// newToken returns a new token. If sessions carry facts, the token ends with them (see storedtoken.Append). Otherwise,
// with Session.AbsoluteMaxAge, it ends with the start of the session, because the table has no column for it. The store
// does not find a token that a client has changed.
func (s *sessionRows) newToken(by authentication) (token string, err error) {
	if s.config.GenerateToken == nil {
		token, err = uuid(s.rand)
	} else if token, err = guarded("Session.GenerateToken", s.config.GenerateToken); err == nil && token == "" {
		err = errors.New("Session.GenerateToken returned an empty token")
	}
	if by.short {
		token = storedtoken.AppendShort(token)
	}
	switch {
	case err != nil:
	case s.facts:
		token = storedtoken.Append(token, storedtoken.Facts{
			Start: s.now(), AuthTime: by.time, Methods: audit.Texts(by.methods), ACR: by.acr,
			Actor: by.actor.userID, ActorSession: by.actor.sessionID,
		})
	case s.config.AbsoluteMaxAge > 0:
		token = storedtoken.AppendStart(token, s.now())
	}
	return token, err
}
