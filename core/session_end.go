package core

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/sessioncookies"
	"github.com/latchkey-go/latchkey/core/internal/sessionlist"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/pending"
)

// end ends the session of a request and calls Events.SignOut (docs/protocol.md §7.5). userID is the user of the
// session. It is empty if there was no session or if its user is unknown.
func (s *sessions) end(ctx context.Context, r requestSession) (userID string, err error) {
	c := r.carrier()
	c.NoteReplaced(sessioncookies.SignedOut)
	if !c.FromHeader {
		s.endActor(ctx, c.at)
	}
	event, err := r.end(ctx)
	if err != nil {
		return "", err
	}
	s.exchanges.Erase(c.at.browser(), event.userID())
	s.notifySignOut(ctx, c.at, event)
	return event.userID(), nil
}

// notifySignOut notes a sign-out and calls Events.SignOut. If no session has ended, the event is empty.
func (s *sessions) notifySignOut(ctx context.Context, v *arrival, e SignOutEvent) {
	if e.Token != nil || e.Session != nil {
		v.decidedOf(ctx, audit.SignOut, "", e.userID(), e.SessionID)
	}
	emit(ctx, v, "signOut", s.events.SignOut, e)
}

// userID returns the user of the session that ended, or "".
func (e *SignOutEvent) userID() string {
	switch {
	case e.Token != nil:
		return e.Token.Subject
	case e.Session != nil:
		return e.Session.UserID
	}
	return ""
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
	_, ended, err = a.endSessions(ctx, nil, userID, o)
	return ended, err
}

// endSessions implements EndSessions. at is the request for the audit event, or nil outside of a request. It also
// returns the listed sessions that ended.
func (a *Auth) endSessions(
	ctx context.Context, at *arrival, userID string, o EndOptions,
) (ended []sessionlist.Session, number int, err error) {
	list, err := a.sessionsToEnd(ctx, userID, o)
	if err != nil {
		return nil, 0, err
	}
	ended, number, err = a.sessions.all.End(ctx, userID, list, o.One, o.Except)
	a.sessions.notifyEnded(ctx, a, userID, ended)
	if err != nil {
		return ended, number, errorf(ErrStore, "EndSessions: %w", err)
	}
	e := audit.Event{
		Name: audit.SessionsEnded, Outcome: audit.OK, Reason: audit.ReasonAsked, UserID: userID, SessionID: o.One,
	}
	if o.One != "" {
		e.Name = audit.SessionEnded
	}
	noteAt(ctx, a.site.audit, at, e)
	return ended, number, nil
}

// notifyEnded calls Events.SignOut for each session that was ended. Under StrategyJWT the tokens are in other browsers,
// so the token of the event has only the user ID.
func (s *sessions) notifyEnded(ctx context.Context, a *Auth, userID string, ended []sessionlist.Session) {
	if s.events.SignOut == nil {
		return
	}
	at := a.site.unsettled(&Request{})
	for _, session := range ended {
		e := SignOutEvent{SessionID: session.ID}
		if s.config.Strategy == StrategyJWT {
			e.Token = &Token{Subject: userID}
		} else {
			e.Session = &store.Session{Token: Secret(session.Token), UserID: userID, Expires: session.Expires}
		}
		emit(ctx, &at, "signOut", s.events.SignOut, e)
	}
}

// sessionsToEnd returns the listed sessions that EndSessions ends. Unless it ends a single session, it ends the user's
// pending sign-ins, and calls the functions of PluginHost.OnEndSessions.
func (a *Auth) sessionsToEnd(ctx context.Context, userID string, o EndOptions) ([]sessionlist.Session, error) {
	if o.One != "" && o.Except != "" {
		return nil, errorf(ErrInvalidConfig, "EndSessions: both One and Except are set: set one of them")
	}
	if o.One == "" {
		if err := a.plugins.endPending(ctx, userID); err != nil {
			return nil, err
		}
	}
	list, err := a.sessions.list(ctx, "EndSessions", userID)
	if err != nil {
		return nil, err
	}
	if id := o.One + o.Except; id != "" {
		named := func(s sessionlist.Session) bool { return s.ID == id }
		if !slices.ContainsFunc(list, named) && currentID(ctx, a, userID) != id {
			return nil, ErrNotFound
		}
		list = slices.DeleteFunc(list, func(s sessionlist.Session) bool { return named(s) == (o.Except != "") })
	}
	if o.One != "" {
		return list, nil
	}
	for _, end := range a.plugins.enders {
		if err := guard("OnEndSessions", func() error { return end(ctx, userID) }); err != nil {
			return nil, errorf(ErrStore, "EndSessions: %w", err)
		}
	}
	return list, nil
}

// endPending deletes the pending sign-ins of a user.
func (ps *plugins) endPending(ctx context.Context, userID string) error {
	if len(ps.gates) == 0 || ps.auth.store.Records == nil {
		return nil
	}
	_, err := ps.auth.store.Records.DeleteUserRecords(ctx, userID, pending.Kind)
	if err != nil {
		return errorf(ErrStore, "delete the pending sign-ins of a user: %w", err)
	}
	return nil
}

// CanEndSessions reports whether this configuration can revoke a user's sessions before they expire. Call it after New
// has returned. Use it to decide whether a page may promise that other sessions will be signed out.
func (h *PluginHost) CanEndSessions() bool { return h.Auth.sessions.all.CanEnd() }

// upgraded ends the sessions and credentials that a user had before the upgrade, before a new session is issued.
func (p *provisional) upgraded(ctx context.Context, v *arrival, userID string) error {
	a := p.auth
	err := a.plugins.endPending(ctx, userID)
	for _, end := range a.plugins.enders {
		err = errors.Join(err, guard("OnEndSessions", func() error { return end(ctx, userID) }))
	}
	if err == nil && a.sessions.config.Strategy == StrategyJWT {
		err = a.sessions.all.EndUser(ctx, userID, "")
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
