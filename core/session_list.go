package core

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/random"
	"github.com/latchkey-go/latchkey/core/store"
)

// EndOptions say which sessions of a user are to end; zero: all of them. Set one field at most.
type EndOptions struct {
	// One is the ID of the session to end, Except of the one that goes on.
	One, Except string
}

// Sessions lists the sessions of a user, those used last first. The context of a request, behind the hook, tells which
// of them is the current one.
//
// Under StrategyDatabase the Store has to be a [store.SessionLister]. What SessionInfo tells beside ID and Expires is
// known of sessions that began while a part had sessions carry facts, and all of it where the Store is a
// [store.RecordStore] too. Under StrategyJWT sessions are listed that began while Session.Revocation was on, of users
// whom the Store has.
//
// An error of type ErrMissingStoreMethods or ErrInvalidConfig names what is missing, any other is of the store.
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

// currentID is the ID of the session of the request whose context is given, where it is one of the user's.
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

// EndSessions ends sessions of a user: all, one, or all but one. It returns how many of those that [Auth.Sessions]
// lists have ended. [ErrNotFound]: the ID of EndOptions is that of no session of this user.
//
// Under StrategyDatabase they have ended when it returns. Under StrategyJWT, with Session.Revocation, they have in this
// process, and in the others within Revocation.Every; all and all but one include sessions that are not listed, such as
// those of Auth.js. Events.SignOut is called for each listed session that has ended. Unless One is set, sign-ins of the
// user that wait behind a [Gate] end too. Requirements and further errors are those of Sessions. After an error some
// may have ended. Config.Audit receives one event for those that have ended.
func (a *Auth) EndSessions(ctx context.Context, userID string, o EndOptions) (ended int, err error) {
	if err := configured(a, "EndSessions"); err != nil {
		return 0, err
	}
	_, ended, err = a.endSessions(ctx, userID, o)
	return ended, err
}

// endSessions is EndSessions. It returns the listed sessions that have ended as well.
func (a *Auth) endSessions(
	ctx context.Context, userID string, o EndOptions,
) (list []listedSession, ended int, err error) {
	list, ended, err = endSessions(ctx, a, userID, o)
	a.sessions.tellEnded(ctx, a, userID, list)
	if err == nil {
		e := AuditEvent{Name: AuditSessionsEnded, Outcome: OutcomeOK, Reason: ReasonAsked, UserID: userID, SessionID: o.One}
		if o.One != "" {
			e.Name = AuditSessionEnded
		}
		a.site.audit.note(ctx, nil, e)
	}
	return list, ended, err
}

// tellEnded calls Events.SignOut for each session that was ended. Under StrategyJWT the tokens are in other browsers,
// so the event contains no more of them than their user.
func (s *sessions) tellEnded(ctx context.Context, a *Auth, userID string, list []listedSession) {
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

// endSessions returns the sessions that have ended and, of those that were listed, their number.
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

// listedSession is a session in a list; kept is its token as the store has it, empty under the jwt strategy.
type listedSession struct {
	SessionInfo
	kept string
}

// canEnd reports whether sessions can be listed and ended before they expire.
func (s *sessions) canEnd() bool {
	if s.config.Strategy == StrategyDatabase {
		return s.lister != nil
	}
	return s.ended != nil
}

// list lists the sessions of a user, those used last first. method is the one that the application has called.
func (s *sessions) list(ctx context.Context, method, userID string) ([]listedSession, error) {
	var list []listedSession
	var err error
	switch {
	case s.config.Strategy == StrategyDatabase && s.lister == nil:
		return nil, errorf(ErrMissingStoreMethods, "%s needs a Store that is a store.SessionLister too "+
			"(package core/store)", method)
	case s.config.Strategy == StrategyDatabase:
		list, err = s.listStored(ctx, userID)
	case s.ended == nil:
		return nil, errorf(ErrInvalidConfig, "%s: Session.Strategy keeps sessions in cookies, which can be listed and "+
			"ended where Session.Revocation is on: switch it on, or use StrategyDatabase", method)
	default:
		list, err = s.listJWT(ctx, userID)
	}
	if err != nil {
		return nil, errorf(ErrStore, "%s: %w", method, err)
	}
	slices.SortStableFunc(list, func(a, b listedSession) int {
		return cmp.Or(b.Seen.Compare(a.Seen), b.Expires.Compare(a.Expires))
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
			_, info.Methods = factsIn(string(row.Token)) // found if the token is stored unhashed
			info.Made = startIn(string(row.Token))
		}
		info.Expires = row.Expires
		list = append(list, listedSession{info, string(row.Token)})
	}
	return list, nil
}

// listJWT lists the sessions of which there is a record. One that has ended is none, though its record may be left.
func (s *sessions) listJWT(ctx context.Context, userID string) (list []listedSession, err error) {
	if err := s.ended.follow(ctx); err != nil {
		return nil, err
	}
	notes, err := s.records.ofUser(ctx, userID)
	for id, note := range notes {
		key, ok := idOf(id)
		info := note.info(id)
		if ok && !info.Expires.Before(s.now()) && !s.ended.hasEnded(userID, key, note.Epoch) {
			list = append(list, listedSession{SessionInfo: info})
		}
	}
	return list, err
}

// endAllStored ends all sessions of a user under the database strategy, one that begins at this moment included.
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

// endStored ends sessions of the database strategy, and returns those that were still in the store.
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

// endOne ends a session of the jwt strategy, and returns whose it was, as far as that is known.
func (s *sessions) endOne(ctx context.Context, id string) (userID string, err error) {
	key, ok := idOf(id)
	if !ok {
		return "", nil
	}
	userID = s.records.remove(ctx, id)
	s.exchanges.erase("", userID)
	return userID, s.ended.endSession(ctx, key)
}

// endUser ends all sessions of a user under the jwt strategy, but for one where except is not empty.
func (s *sessions) endUser(ctx context.Context, userID, except string) error {
	if userID == "" {
		return nil
	}
	s.exchanges.erase("", userID)
	key, _ := idOf(except)
	if err := s.ended.endUser(ctx, userID, key); err != nil {
		return err
	}
	return s.records.removeAll(ctx, userID, except)
}

// endOldest ends the sessions that a user has beyond Session.MaxPerUser, but for the newest: those that end first. A
// store that fails is logged, and the next sign-in tries again.
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
			v.decidedOf(ctx, AuditSessionEnded, ReasonTooMany, newest.UserID, publicID(string(s.Token)))
		}
		return nil
	})
	if err != nil {
		v.log.failure(ctx, errorf(ErrStore, "end the sessions beyond Session.MaxPerUser: %w", err), v.attrs()...)
	}
}
