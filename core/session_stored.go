package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
)

// storedSessions creates and finds the sessions of StrategyDatabase. The cookie contains a random token.
type storedSessions struct {
	config   SessionConfig
	audience string
	store    store.SessionStore
	now      func() time.Time
	rand     io.Reader
	cleaning *cleaning
	// facts reports whether tokens contain the authentication time and methods.
	facts bool
	// records stores the records of sessions. It is nil if there are none.
	records *sessionRecords
}

// find looks up a session, and deletes it if it has expired. ErrNotFound means that there is no session.
func (s *storedSessions) find(ctx context.Context, token string) (*store.Session, *User, error) {
	type found struct {
		session *store.Session
		user    *User
	}
	f, err := guarded("Store.SessionAndUser", func() (found, error) {
		record, user, err := s.store.SessionAndUser(ctx, s.atRest(token))
		return found{record, user}, err
	})
	if err != nil {
		return nil, nil, err
	}
	if f.session == nil || f.user == nil {
		return nil, nil, errors.New("the store returned neither a session nor ErrNotFound")
	}
	f.session.Token = Secret(token)
	end, now := s.absoluteEnd(token), s.now()
	if f.session.Expires.Before(now) || !end.IsZero() && end.Before(now) {
		if _, err := s.delete(ctx, token); err != nil && !errors.Is(err, ErrNotFound) {
			return nil, nil, err
		}
		return nil, nil, &audit.Denial{Reason: audit.ReasonExpired, UserID: f.user.ID, Err: ErrNotFound}
	}
	return f.session, f.user, nil
}

// create stores a session with a new token. sessions is the store, or a transaction of it.
func (s *storedSessions) create(
	ctx context.Context, sessions store.SessionStore, userID string, by authentication,
) (*store.Session, error) {
	token, err := s.newToken(by)
	if err != nil {
		return nil, err
	}
	record := &store.Session{Token: Secret(token), UserID: userID, Expires: s.newExpiry(token)}
	s.cleaning.perhaps()
	kept := *record
	kept.Token = Secret(s.atRest(token))
	return record, guard("Store.CreateSession", func() error { return sessions.CreateSession(ctx, &kept) })
}

// newToken returns a new token. If sessions carry facts, the token ends with them (see appendFacts). Otherwise, with
// Session.AbsoluteMaxAge, it ends with the start of the session, because the table has no column for it. The store does
// not find a token that a client has changed.
func (s *storedSessions) newToken(by authentication) (token string, err error) {
	if s.config.GenerateToken == nil {
		token, err = uuid(s.rand)
	} else if token, err = guarded("Session.GenerateToken", s.config.GenerateToken); err == nil && token == "" {
		err = errors.New("Session.GenerateToken returned an empty token")
	}
	switch {
	case err != nil:
	case s.facts:
		token = appendFacts(token, s.now(), by)
	case s.config.AbsoluteMaxAge > 0:
		token += "." + strconv.FormatInt(s.now().Unix(), 36)
	}
	return token, err
}

// extend extends a session that is used, if it is due. It reports whether the session was extended.
func (s *storedSessions) extend(ctx context.Context, record *store.Session) (extended bool, err error) {
	token := string(record.Token)
	due := record.Expires.Add(s.config.UpdateAge - s.config.MaxAge)
	if due.After(s.now()) || s.atAbsoluteEnd(token, record.Expires) {
		return false, nil
	}
	expires := s.newExpiry(token)
	err = guard("Store.UpdateSession", func() error { return s.store.UpdateSession(ctx, s.atRest(token), expires) })
	if err != nil {
		return false, err
	}
	record.Expires = expires
	return true, nil
}

// delete deletes the session of a token and returns it.
func (s *storedSessions) delete(ctx context.Context, token string) (*store.Session, error) {
	kept := s.atRest(token)
	record, err := guarded("Store.DeleteSession", func() (*store.Session, error) {
		return s.store.DeleteSession(ctx, kept)
	})
	if err == nil && s.records != nil {
		s.records.remove(ctx, publicID(kept))
	}
	return record, err
}

// absoluteEnd returns when Session.AbsoluteMaxAge ends the session. The zero time means no limit.
func (s *storedSessions) absoluteEnd(token string) time.Time {
	if s.config.AbsoluteMaxAge == 0 {
		return time.Time{}
	}
	if at := startIn(token); !at.IsZero() {
		return at.Add(s.config.AbsoluteMaxAge)
	}
	at, err := strconv.ParseInt(token[strings.LastIndexByte(token, '.')+1:], 36, 64)
	if err != nil { // created before the limit was set
		return time.Time{}
	}
	return time.Unix(at, 0).Add(s.config.AbsoluteMaxAge)
}

// atAbsoluteEnd reports whether a session cannot be extended any more.
func (s *storedSessions) atAbsoluteEnd(token string, expires time.Time) bool {
	end := s.absoluteEnd(token)
	return !end.IsZero() && !end.After(expires)
}

// newExpiry returns the expiry of a session that is used now.
func (s *storedSessions) newExpiry(token string) time.Time {
	expires := s.now().Add(s.config.MaxAge)
	if end := s.absoluteEnd(token); !end.IsZero() && end.Before(expires) {
		return end
	}
	return expires
}

// atRest returns a session token in the form that the store contains: hashed if Session.HashTokens is on or
// Config.Audience is set. With an audience, an Auth of another audience cannot find the session.
func (s *storedSessions) atRest(token string) string {
	switch {
	case s.audience != "":
		token = "latchkey audience\x00" + s.audience + "\x00" + token
	case !s.config.HashTokens:
		return token
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// A token of StrategyDatabase contains the authentication time and methods of its session, because the table of Auth.js
// has no column for them: "<random>.k<seconds in base 36>.<methods>". The seconds are the authentication time, or "0"
// if it is unknown. If the session started at another time, that time follows after a hyphen. The store does not find a
// token whose facts a client has changed.

// appendFacts appends the facts of a session that starts at start to its token.
func appendFacts(token string, start time.Time, by authentication) string {
	var b strings.Builder
	at := max(by.time.Unix(), 0)
	b.WriteString(token + ".k" + strconv.FormatInt(at, 36))
	if at != start.Unix() {
		b.WriteString("-" + strconv.FormatInt(start.Unix(), 36))
	}
	b.WriteByte('.')
	for i, m := range wellFormed(by.methods) {
		if i > 0 {
			b.WriteByte('-')
		}
		b.WriteString(string(m))
	}
	return b.String()
}

// factsIn returns the facts in a token. The zero time means that the token has none, or that the time is unknown.
func factsIn(token string) (at time.Time, methods []Method) {
	authenticated, _, list, ok := readFacts(token)
	if !ok {
		return time.Time{}, nil
	}
	for text := range strings.SplitSeq(list, "-") {
		if text != "" {
			methods = append(methods, Method(text))
		}
	}
	if authenticated > 0 {
		at = time.Unix(authenticated, 0)
	}
	return at, methods
}

// startIn returns the start of a session from its token. It is zero if the token does not contain it.
func startIn(token string) time.Time {
	_, start, _, ok := readFacts(token)
	if !ok {
		return time.Time{}
	}
	return time.Unix(start, 0)
}

func readFacts(token string) (authenticated, start int64, methods string, ok bool) {
	rest, methods := cutLast(token)
	_, times := cutLast(rest)
	times, marked := strings.CutPrefix(times, "k")
	first, second, both := strings.Cut(times, "-")
	authenticated, err := strconv.ParseInt(first, 36, 64)
	start = authenticated
	if err == nil && both {
		start, err = strconv.ParseInt(second, 36, 64)
	}
	return authenticated, start, methods, marked && err == nil && authenticated >= 0 && start >= 0
}

func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}
