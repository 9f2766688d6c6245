package core

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/sessionid"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/random"
)

// EndOptions select the sessions to end. The zero value selects all sessions of the user. Set at most one field.
type EndOptions struct {
	// One is the ID of the only session to end. Except is the ID of the only session to keep.
	One, Except string
}

// Sessions lists the active sessions of a user, most recently used first. If ctx is the context of a request with the
// request hook, the request's own session has Current set.
//
// Under StrategyDatabase the Store must implement [store.SessionLister]. ID and Expires are always set. The other
// fields are set for sessions that started while a plugin or Session.Revocation tracked authentication; all of them are
// set only if the Store also implements [store.RecordStore]. Under StrategyJWT the list contains the sessions that
// started while Session.Revocation was on, of users in the Store.
//
// An error of type ErrMissingStoreMethods or ErrInvalidConfig names the missing requirement. Any other error is from
// the Store.
func (a *Auth) Sessions(ctx context.Context, userID string) ([]SessionInfo, error) {
	if err := configured(a, "Sessions"); err != nil {
		return nil, err
	}
	list, err := a.sessions.list(ctx, "Sessions", userID)
	if err != nil {
		return nil, err
	}
	out, current := make([]SessionInfo, len(list)), currentID(ctx, a, userID)
	for i := range list {
		out[i] = list[i].SessionInfo
		out[i].Current = current != "" && out[i].ID == current
	}
	return out, nil
}

// currentID returns the ID of the session of the request with this context. It is empty if there is none, or if it
// belongs to another user.
func currentID(ctx context.Context, a *Auth, userID string) string {
	v := VisitOf(ctx, a)
	if v == nil {
		return ""
	}
	s, err := v.Session()
	if err != nil || s == nil || s.UserID != userID {
		return ""
	}
	return s.ID
}

// EndSessions ends all sessions of a user, one of them, or all except one. It returns the number of sessions in
// [Auth.Sessions] that it ended. If the ID in o is not the ID of a session of this user, it returns [ErrNotFound].
//
// Under StrategyDatabase the sessions have ended when EndSessions returns. Under StrategyJWT, which needs
// Session.Revocation, they have ended in this process, and in other processes within Revocation.Every. All, and all
// except one, include sessions that are not listed, such as sessions that Auth.js created. Events.SignOut is called for
// each listed session that was ended. Unless One is set, pending sign-ins of the user (see [SignInGate]) end as well.
// Config.Audit receives one event for the call.
//
// The requirements and other errors are those of Sessions. After an error some of the sessions may have ended.
func (a *Auth) EndSessions(ctx context.Context, userID string, o EndOptions) (ended int, err error) {
	if err := configured(a, "EndSessions"); err != nil {
		return 0, err
	}
	_, ended, err = a.endSessions(ctx, userID, o)
	return ended, err
}

// endSessions implements EndSessions. It also returns the listed sessions that ended.
func (a *Auth) endSessions(
	ctx context.Context, userID string, o EndOptions,
) (list []listedSession, ended int, err error) {
	list, ended, err = endSessions(ctx, a, userID, o)
	a.sessions.notifyEnded(ctx, a, userID, list)
	if err == nil {
		e := audit.Event{
			Name: audit.SessionsEnded, Outcome: audit.OK, Reason: audit.ReasonAsked, UserID: userID, SessionID: o.One,
		}
		if o.One != "" {
			e.Name = audit.SessionEnded
		}
		a.site.audit.note(ctx, nil, e)
	}
	return list, ended, err
}

// notifyEnded calls Events.SignOut for each session that was ended. Under StrategyJWT the tokens are in other browsers,
// so the token of the event has only the user ID.
func (s *sessions) notifyEnded(ctx context.Context, a *Auth, userID string, list []listedSession) {
	if s.events.SignOut == nil {
		return
	}
	at := a.site.unsettled(&Request{})
	for _, session := range list {
		e := SignOutEvent{SessionID: session.ID}
		if s.config.Strategy == StrategyJWT {
			e.Token = &Token{Subject: userID}
		} else {
			e.Session = &store.Session{Token: Secret(session.kept), UserID: userID, Expires: session.Expires}
		}
		emit(ctx, &at, "signOut", func() error { return s.events.SignOut(ctx, e) })
	}
}

// endSessions returns the listed sessions that ended, and their number.
func endSessions(
	ctx context.Context, a *Auth, userID string, o EndOptions,
) (list []listedSession, ended int, err error) {
	if o.One != "" && o.Except != "" {
		return nil, 0, errorf(ErrInvalidConfig, "EndSessions: both One and Except are set: set one of them")
	}
	if o.One == "" {
		if err := a.parts.endPending(ctx, userID); err != nil {
			return nil, 0, err
		}
	}
	if list, err = a.sessions.list(ctx, "EndSessions", userID); err != nil {
		return nil, 0, err
	}
	if id := o.One + o.Except; id != "" {
		named := func(s listedSession) bool { return s.ID == id }
		if !slices.ContainsFunc(list, named) && currentID(ctx, a, userID) != id {
			return nil, 0, ErrNotFound
		}
		list = slices.DeleteFunc(list, func(s listedSession) bool { return named(s) == (o.Except != "") })
	}
	switch stored := a.sessions.config.Strategy == StrategyDatabase; {
	case stored && o == EndOptions{}:
		if ended, err = a.sessions.endAllStored(ctx, userID); err != nil {
			return nil, ended, err
		}
		return list, ended, nil
	case stored:
		a.sessions.exchanges.erase("", userID)
		list, err = a.sessions.endStored(ctx, list)
		return list, len(list), err
	}
	if o.One != "" {
		_, err = a.sessions.endOne(ctx, o.One)
	} else {
		err = a.sessions.endUser(ctx, userID, o.Except)
	}
	if err != nil {
		return nil, 0, errorf(ErrStore, "EndSessions: %w", err)
	}
	return list, len(list), nil
}

// listedSession is a session in a list. kept is its token as the store contains it, and empty under StrategyJWT.
type listedSession struct {
	SessionInfo
	kept string
}

// canEnd reports whether sessions can be listed, and ended before they expire.
func (s *sessions) canEnd() bool {
	if s.config.Strategy == StrategyDatabase {
		return s.lister != nil
	}
	return s.revoked != nil
}

// list returns the sessions of a user, most recently used first. method is the exported method for error texts.
func (s *sessions) list(ctx context.Context, method, userID string) ([]listedSession, error) {
	var list []listedSession
	var err error
	switch {
	case s.config.Strategy == StrategyDatabase && s.lister == nil:
		return nil, errorf(ErrMissingStoreMethods, "%s requires a Store that implements store.SessionLister "+
			"(package core/store)", method)
	case s.config.Strategy == StrategyDatabase:
		list, err = s.listStored(ctx, userID)
	case s.revoked == nil:
		return nil, errorf(ErrInvalidConfig, "%s: sessions under StrategyJWT can be listed and ended only if "+
			"Session.Revocation is on: switch it on, or use StrategyDatabase", method)
	default:
		list, err = s.listJWT(ctx, userID)
	}
	if err != nil {
		return nil, errorf(ErrStore, "%s: %w", method, err)
	}
	slices.SortStableFunc(list, func(a, b listedSession) int {
		return cmp.Or(b.LastSeen.Compare(a.LastSeen), b.Expires.Compare(a.Expires))
	})
	return list, nil
}

func (s *sessions) listStored(ctx context.Context, userID string) (list []listedSession, err error) {
	rows, err := guarded("Store.Sessions", func() ([]*store.Session, error) { return s.lister.Sessions(ctx, userID) })
	if err != nil {
		return nil, err
	}
	notes, err := s.records.ofUser(ctx, userID)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Expires.Before(s.now()) {
			continue
		}
		info := SessionInfo{ID: publicID(string(row.Token))}
		if note, there := notes[info.ID]; there {
			info = note.info(info.ID)
		} else {
			_, info.AuthMethods = factsIn(string(row.Token)) // found only if the store has the token unhashed
			info.CreatedAt = startIn(string(row.Token))
		}
		info.Expires = row.Expires
		list = append(list, listedSession{info, string(row.Token)})
	}
	return list, nil
}

// listJWT returns the sessions that have a record. It leaves out a session that has ended but still has a record.
func (s *sessions) listJWT(ctx context.Context, userID string) (list []listedSession, err error) {
	if err := s.revoked.Refresh(ctx); err != nil {
		return nil, err
	}
	notes, err := s.records.ofUser(ctx, userID)
	for id, note := range notes {
		key, ok := sessionid.Parse(id)
		info := note.info(id)
		if ok && !info.Expires.Before(s.now()) && !s.revoked.Has(userID, key, note.Epoch) {
			list = append(list, listedSession{SessionInfo: info})
		}
	}
	return list, err
}

// endAllStored ends all sessions of a user under StrategyDatabase, including a session that is being created now.
func (s *sessions) endAllStored(ctx context.Context, userID string) (ended int, err error) {
	s.exchanges.erase("", userID)
	ended, err = guarded("Store.DeleteSessions", func() (int, error) { return s.lister.DeleteSessions(ctx, userID) })
	if err == nil {
		err = s.records.removeAll(ctx, userID, "")
	}
	if err != nil {
		return ended, errorf(ErrStore, "EndSessions: %w", err)
	}
	return ended, nil
}

// endStored ends sessions under StrategyDatabase, and returns those that the store still had.
func (s *sessions) endStored(ctx context.Context, list []listedSession) (ended []listedSession, err error) {
	for _, session := range list {
		_, err := guarded("Store.DeleteSession", func() (*store.Session, error) {
			return s.rows.store.DeleteSession(ctx, session.kept)
		})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return ended, errorf(ErrStore, "EndSessions: %w", err)
		}
		if err == nil {
			ended = append(ended, session)
		}
		s.records.remove(ctx, session.ID)
	}
	return ended, nil
}

// endOne ends one session under StrategyJWT. It returns the user of the session, or "" if the user is unknown.
func (s *sessions) endOne(ctx context.Context, id string) (userID string, err error) {
	key, ok := sessionid.Parse(id)
	if !ok {
		return "", nil
	}
	userID = s.records.remove(ctx, id)
	s.exchanges.erase("", userID)
	return userID, s.revoked.EndSession(ctx, key)
}

// endUser ends all sessions of a user under StrategyJWT. It keeps the session with the ID except, if that is not empty.
func (s *sessions) endUser(ctx context.Context, userID, except string) error {
	if userID == "" {
		return nil
	}
	s.exchanges.erase("", userID)
	key, _ := sessionid.Parse(except)
	if err := s.revoked.EndUser(ctx, userID, key); err != nil {
		return err
	}
	return s.records.removeAll(ctx, userID, except)
}

// endOldest enforces Session.MaxPerUser after a sign-in. It ends the sessions that expire first and never the newest
// one. If the store fails, the error is logged, and the next sign-in tries again.
func (l *linker) endOldest(ctx context.Context, v *arrival, newest *store.Session) {
	most := l.sessions.config.MaxPerUser
	if most == 0 || l.sessions.config.Strategy == StrategyJWT {
		return
	}
	err := guard("Store.Sessions", func() error {
		list, err := l.store.lister.Sessions(ctx, newest.UserID)
		if err != nil {
			return err
		}
		kept := Secret(l.sessions.rows.atRest(string(newest.Token)))
		list = slices.DeleteFunc(list, func(s *store.Session) bool { return random.Same(s.Token, kept) })
		slices.SortStableFunc(list, func(a, b *store.Session) int { return a.Expires.Compare(b.Expires) })
		for _, s := range list[:max(0, len(list)+1-most)] {
			if _, err := l.store.sessions.DeleteSession(ctx, string(s.Token)); err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			l.sessions.records.remove(ctx, publicID(string(s.Token)))
			v.decidedOf(ctx, audit.SessionEnded, audit.ReasonTooMany, newest.UserID, publicID(string(s.Token)))
		}
		return nil
	})
	if err != nil {
		v.log.failure(ctx, errorf(ErrStore, "end the sessions beyond Session.MaxPerUser: %w", err), v.attrs()...)
	}
}
