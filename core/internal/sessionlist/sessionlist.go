// Package sessionlist lists the active sessions of a user and ends them, under both session strategies. Sessions in a
// store are rows. Encrypted session tokens are listed by their records, and end with an entry in the revocation list.
package sessionlist

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/internal/revocation"
	"github.com/latchkey-go/latchkey/internal/sessionid"
	"github.com/latchkey-go/latchkey/internal/sessionrecord"
	"github.com/latchkey-go/latchkey/internal/storedtoken"
)

// Sessions lists and ends sessions. Rows or Revoked is set if sessions can be ended.
type Sessions struct {
	// Rows has the stored sessions. It is nil if sessions are encrypted tokens.
	Rows *sessionstate.Rows
	// Lister lists stored sessions. It is nil if the store cannot.
	Lister store.SessionLister
	// Revoked has the revoked sessions of encrypted tokens. It is nil if they cannot be revoked.
	Revoked *revocation.List
	// Records stores the records of sessions. It is nil if there are none.
	Records *sessionrecord.Records
	Now     func() time.Time
	// Forget is called before sessions of a user end. Responses to repeated requests must not contain their cookies. The
	// user ID is empty if the user is unknown.
	Forget func(userID string)
}

// Info has the fields of core.SessionInfo. Core converts it, and sets Current.
type Info struct {
	ID                  string
	Current             bool
	CreatedAt, LastSeen time.Time
	UserAgent           string
	Network             netip.Prefix
	AuthMethods         []amr.Method
	Provider            string
	Expires             time.Time
	Actor               string
}

// Session is an active session. Token is its token as the store contains it. It is empty if the session is not stored.
type Session struct {
	Info
	Token string
}

// CanEnd reports whether sessions can be listed, and ended before they expire.
func (s *Sessions) CanEnd() bool {
	if s.Rows != nil {
		return s.Lister != nil
	}
	return s.Revoked != nil
}

// List returns the sessions of a user, most recently used first.
func (s *Sessions) List(ctx context.Context, userID string) (list []Session, err error) {
	if s.Rows != nil {
		list, err = s.stored(ctx, userID)
	} else {
		list, err = s.recorded(ctx, userID)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b Session) int {
		return cmp.Or(b.LastSeen.Compare(a.LastSeen), b.Expires.Compare(a.Expires))
	})
	return list, nil
}

func (s *Sessions) stored(ctx context.Context, userID string) (list []Session, err error) {
	rows, err := s.Lister.Sessions(ctx, userID)
	if err != nil {
		return nil, err
	}
	notes, err := s.Records.OfUser(ctx, userID)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Expires.Before(s.Now()) {
			continue
		}
		info := Info{ID: sessionid.Of(string(row.Token)).String()}
		if note, there := notes[info.ID]; there {
			info = infoOf(info.ID, note)
		} else {
			facts, _ := storedtoken.Read(string(row.Token)) // found only if the store has the token unhashed
			info.CreatedAt, info.AuthMethods = facts.Start, Methods(facts.Methods)
		}
		info.Expires = row.Expires
		list = append(list, Session{info, string(row.Token)})
	}
	return list, nil
}

// recorded returns the sessions that have a record. It leaves out a session that has ended but still has a record.
func (s *Sessions) recorded(ctx context.Context, userID string) (list []Session, err error) {
	if err := s.Revoked.Refresh(ctx); err != nil {
		return nil, err
	}
	notes, err := s.Records.OfUser(ctx, userID)
	for id, note := range notes {
		key, ok := sessionid.Parse(id)
		info := infoOf(id, note)
		if ok && !info.Expires.Before(s.Now()) && !s.Revoked.Has(userID, key, note.Epoch) {
			list = append(list, Session{Info: info})
		}
	}
	return list, err
}

// infoOf returns a record in the form that the application receives.
func infoOf(id string, n sessionrecord.Note) Info {
	info := Info{
		ID: id, CreatedAt: time.Unix(n.Made, 0), LastSeen: time.Unix(n.Seen, 0), Expires: time.Unix(n.Ends, 0),
		UserAgent: n.Agent, AuthMethods: Methods(n.Methods), Provider: n.Provider, Actor: n.Actor,
	}
	info.Network, _ = netip.ParsePrefix(n.Peer)
	return info
}

// Methods returns authentication methods from their texts.
func Methods(texts []string) (methods []amr.Method) {
	for _, m := range texts {
		methods = append(methods, amr.Method(m))
	}
	return methods
}

// End ends listed sessions of a user. one is the ID of the only session to end, except the ID of the only session to
// keep. If both are empty, all sessions end, including a session that is being created now. Only stored sessions must
// be in the list. It returns the sessions that ended, and their number.
func (s *Sessions) End(
	ctx context.Context, userID string, list []Session, one, except string,
) (ended []Session, number int, err error) {
	switch {
	case s.Rows == nil && one != "":
		_, err = s.EndOne(ctx, one)
	case s.Rows == nil:
		err = s.EndUser(ctx, userID, except)
	case one == "" && except == "":
		number, err = s.endRows(ctx, userID)
		if err != nil {
			return nil, number, err
		}
		return list, number, nil
	default:
		s.Forget(userID)
		ended, err = s.endListed(ctx, list)
		return ended, len(ended), err
	}
	if err != nil {
		return nil, 0, err
	}
	return list, len(list), nil
}

// EndAll ends all sessions of a user, if sessions can be ended.
func (s *Sessions) EndAll(ctx context.Context, userID string) (err error) {
	switch {
	case s.Revoked != nil:
		err = s.EndUser(ctx, userID, "")
	case s.CanEnd():
		_, err = s.endRows(ctx, userID)
	}
	return err
}

// EndThese ends single sessions: ids are the IDs of encrypted tokens, or the tokens of stored sessions. It returns the
// user of the last one that still existed. ended is false if there are none, or if sessions cannot be ended.
func (s *Sessions) EndThese(ctx context.Context, ids []string) (userID string, ended bool, err error) {
	if s.Rows == nil && s.Revoked == nil {
		return "", false, nil
	}
	for _, id := range ids {
		owner, err := s.EndOne(ctx, id)
		if err != nil {
			return userID, true, err
		}
		userID = cmp.Or(owner, userID)
	}
	return userID, len(ids) > 0, nil
}

// endRows ends all stored sessions of a user.
func (s *Sessions) endRows(ctx context.Context, userID string) (ended int, err error) {
	s.Forget(userID)
	ended, err = s.Lister.DeleteSessions(ctx, userID)
	if err == nil {
		err = s.Records.RemoveAll(ctx, userID, "")
	}
	return ended, err
}

// endListed ends stored sessions, and returns those that the store still had.
func (s *Sessions) endListed(ctx context.Context, list []Session) (ended []Session, err error) {
	for _, session := range list {
		_, err := s.Rows.Store.DeleteSession(ctx, session.Token)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return ended, err
		}
		if err == nil {
			ended = append(ended, session)
		}
		s.Records.Remove(ctx, session.ID)
	}
	return ended, nil
}

// EndOne ends one session: the ID of an encrypted session token, or the token of a stored session as the store contains
// it. It returns the user of the session, or "" if the user is unknown or if the session has already ended.
func (s *Sessions) EndOne(ctx context.Context, id string) (userID string, err error) {
	if s.Rows != nil {
		row, err := s.Rows.Store.DeleteSession(ctx, id)
		if errors.Is(err, store.ErrNotFound) || err == nil && row == nil {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		return row.UserID, nil
	}
	key, ok := sessionid.Parse(id)
	if !ok {
		return "", nil
	}
	userID = s.Records.Remove(ctx, id)
	s.Forget(userID)
	return userID, s.Revoked.EndSession(ctx, key)
}

// EndUser revokes all sessions of a user. It keeps the session with the ID except, if that is not empty.
func (s *Sessions) EndUser(ctx context.Context, userID, except string) error {
	if userID == "" {
		return nil
	}
	s.Forget(userID)
	key, _ := sessionid.Parse(except)
	if err := s.Revoked.EndUser(ctx, userID, key); err != nil {
		return err
	}
	return s.Records.RemoveAll(ctx, userID, except)
}

// EndExcess ends the stored sessions of a user beyond a number. It ends those that expire first and never the newest
// one. ended is called with the ID of each.
func (s *Sessions) EndExcess(ctx context.Context, newest *store.Session, limit int, ended func(id string)) error {
	list, err := s.Lister.Sessions(ctx, newest.UserID)
	if err != nil {
		return err
	}
	kept := store.Secret(s.Rows.AtRest(string(newest.Token)))
	list = slices.DeleteFunc(list, func(s *store.Session) bool { return random.Same(s.Token, kept) })
	slices.SortStableFunc(list, func(a, b *store.Session) int { return a.Expires.Compare(b.Expires) })
	for _, old := range list[:max(0, len(list)+1-limit)] {
		token := string(old.Token)
		if _, err := s.Rows.Store.DeleteSession(ctx, token); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		id := sessionid.Of(token).String()
		s.Records.Remove(ctx, id)
		ended(id)
	}
	return nil
}
