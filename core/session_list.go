package core

import (
	"context"
	"slices"

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
