package core

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/pending"
	"github.com/latchkey-go/latchkey/internal/sessionid"
)

// end ends the session of a request and calls Events.SignOut (docs/protocol.md §7.5). userID is the user of the
// session. It is empty if there was no session or if its user is unknown.
func (s *sessions) end(ctx context.Context, r requestSession) (userID string, err error) {
	c := r.carrier()
	c.noteReplaced(sessionOver)
	if !c.fromHeader {
		s.endActor(ctx, c.at)
	}
	event, err := r.end(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case event.Token != nil:
		userID = event.Token.Subject
	case event.Session != nil:
		userID = event.Session.UserID
	}
	s.exchanges.Erase(c.at.browser(), userID)
	if event.Token != nil || event.Session != nil {
		c.at.decidedOf(ctx, audit.SignOut, "", userID, event.SessionID)
	}
	if s.events.SignOut != nil {
		emit(ctx, c.at, "signOut", func() error { return s.events.SignOut(ctx, event) })
	}
	return userID, nil
}

// EndOptions select the sessions to end. The zero value selects all sessions of the user. Set at most one field.
type EndOptions struct {
	// One is the ID of the only session to end. Except is the ID of the only session to keep.
	One, Except string
}

// EndSessions ends all sessions of a user, one of them, or all except one. It returns the number of sessions in
// [Auth.Sessions] that it ended. If the ID in o is not the ID of a session of this user, it returns [ErrNotFound].
//
// Under StrategyDatabase the sessions have ended when EndSessions returns. Under StrategyJWT, which needs
// Session.Revocation, they have ended in this process, and in other processes within Revocation.Every. All, and all
// except one, include sessions that are not listed, such as sessions that Auth.js created. Events.SignOut is called for
// each listed session that was ended. Unless One is set, pending sign-ins of the user (see [PluginHost.AddSignInGate])
// end as well. Config.Audit receives one event for the call.
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
		noteAt(ctx, a.site.audit, nil, e)
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
		if err := a.plugins.endPending(ctx, userID); err != nil {
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
	for _, end := range a.plugins.enders {
		if o.One != "" {
			break
		}
		if err := guard("OnEndSessions", func() error { return end(ctx, userID) }); err != nil {
			return nil, 0, errorf(ErrStore, "EndSessions: %w", err)
		}
	}
	switch stored := a.sessions.config.Strategy == StrategyDatabase; {
	case stored && o == EndOptions{}:
		if ended, err = a.sessions.endAllStored(ctx, userID); err != nil {
			return nil, ended, err
		}
		return list, ended, nil
	case stored:
		a.sessions.exchanges.Erase("", userID)
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

// canEnd reports whether sessions can be listed, and ended before they expire.
func (s *sessions) canEnd() bool {
	if s.config.Strategy == StrategyDatabase {
		return s.lister != nil
	}
	return s.revoked != nil
}

// endAllStored ends all sessions of a user under StrategyDatabase, including a session that is being created now.
func (s *sessions) endAllStored(ctx context.Context, userID string) (ended int, err error) {
	s.exchanges.Erase("", userID)
	ended, err = s.lister.DeleteSessions(ctx, userID)
	if err == nil {
		err = s.records.RemoveAll(ctx, userID, "")
	}
	if err != nil {
		return ended, errorf(ErrStore, "EndSessions: %w", err)
	}
	return ended, nil
}

// endStored ends sessions under StrategyDatabase, and returns those that the store still had.
func (s *sessions) endStored(ctx context.Context, list []listedSession) (ended []listedSession, err error) {
	for _, session := range list {
		_, err := s.rows.Store.DeleteSession(ctx, session.kept)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return ended, errorf(ErrStore, "EndSessions: %w", err)
		}
		if err == nil {
			ended = append(ended, session)
		}
		s.records.Remove(ctx, session.ID)
	}
	return ended, nil
}

// endOne ends one session under StrategyJWT. It returns the user of the session, or "" if the user is unknown.
func (s *sessions) endOne(ctx context.Context, id string) (userID string, err error) {
	key, ok := sessionid.Parse(id)
	if !ok {
		return "", nil
	}
	userID = s.records.Remove(ctx, id)
	s.exchanges.Erase("", userID)
	return userID, s.revoked.EndSession(ctx, key)
}

// endUser ends all sessions of a user under StrategyJWT. It keeps the session with the ID except, if that is not empty.
func (s *sessions) endUser(ctx context.Context, userID, except string) error {
	if userID == "" {
		return nil
	}
	s.exchanges.Erase("", userID)
	key, _ := sessionid.Parse(except)
	if err := s.revoked.EndUser(ctx, userID, key); err != nil {
		return err
	}
	return s.records.RemoveAll(ctx, userID, except)
}

// endPending deletes the pending sign-ins of a user.
func (ps *plugins) endPending(ctx context.Context, userID string) error {
	if len(ps.gates) == 0 || ps.auth.store.records == nil {
		return nil
	}
	_, err := ps.auth.store.records.DeleteUserRecords(ctx, userID, pending.Kind)
	if err != nil {
		return errorf(ErrStore, "delete the pending sign-ins of a user: %w", err)
	}
	return nil
}

// CanEndSessions reports whether this configuration can revoke a user's sessions before they expire. Call it after New
// has returned. Use it to decide whether a page may promise that other sessions will be signed out.
func (h *PluginHost) CanEndSessions() bool { return h.Auth.sessions.canEnd() }

// upgraded ends the sessions and credentials that a user had before the upgrade, before a new session is issued.
func (p *provisional) upgraded(ctx context.Context, v *arrival, userID string) error {
	a := p.auth
	err := a.plugins.endPending(ctx, userID)
	for _, end := range a.plugins.enders {
		err = errors.Join(err, guard("OnEndSessions", func() error { return end(ctx, userID) }))
	}
	if err == nil && a.sessions.config.Strategy == StrategyJWT {
		err = a.sessions.endUser(ctx, userID, "")
	}
	a.sessions.exchanges.Erase("", userID)
	if err == nil {
		err = guard("ProvisionalUsers.Upgraded", func() error { return p.Upgraded(ctx, userID) })
	}
	if err != nil {
		return errorf(ErrStore, "end the sessions from before an upgrade: %w", err)
	}
	v.decided(ctx, audit.SessionsEnded, audit.ReasonProved, userID)
	return nil
}
