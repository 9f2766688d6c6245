package core

import (
	"context"
	"errors"
	"fmt"

	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/internal/sessiondata"
)

// updates reports whether the request changes the session.
func (r *sessionRead) updates() bool { return r.trigger == TriggerUpdate }

// getSession handles GET session. The response is the session as JSON, or null.
func (s *sessions) getSession(ctx context.Context, c *call) (*Response, error) {
	return s.sessionResponse(ctx, c, sessionRead{asked: true}, uncachedJSON)
}

// postSession handles POST session. The callbacks receive the posted data with TriggerUpdate.
func (s *sessions) postSession(ctx context.Context, c *call) (*Response, error) {
	// Only the response to GET has all three headers against caching.
	return s.sessionResponse(ctx, c, sessionRead{trigger: TriggerUpdate, update: c.fields.Raw("data")}, jsonResponse)
}

func (s *sessions) sessionResponse(
	ctx context.Context, c *call, why sessionRead, respond func(body []byte) *Response,
) (*Response, error) {
	session, cookies, err := s.read(ctx, c.session, why)
	if err != nil {
		return nil, err
	}
	if session == nil {
		response := respond([]byte("null"))
		response.Cookies = cookies
		if _, there, malformed := c.bearer(); there {
			response.set("Www-Authenticate", bearerProblem(c.origin, malformed).challenge)
		}
		return response, nil
	}
	if s.data != nil {
		s.showData(ctx, &c.arrival, session)
	}
	response := respond(session.appendJSON(make([]byte, 0, 256)))
	response.Cookies = cookies
	return response, nil
}

// sessionCallback runs the session callback. The browser receives the session that it returns.
func (s *sessions) sessionCallback(ctx context.Context, p SessionParams) (*Session, error) {
	id, token, shown := p.Session.UserID, p.Session.Token, p.Session.User
	if s.callbacks.Session == nil {
		shown.ID, p.Session.ownID = id, id
		return p.Session, nil
	}
	facts := *p.Session
	session, err := guarded("session callback", func() (*Session, error) { return s.callbacks.Session(ctx, p) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("Callbacks.Session: %w", err)
	case session == nil:
		return nil, errors.New("Callbacks.Session returned neither a session nor an error: return p.Session, " +
			"changed or not; only Callbacks.JWT ends a session, by a nil token")
	}
	if session != p.Session { // an object of the application, which other requests may be reading
		own := *session
		session = &own
	}
	if session.UserID == "" {
		session.UserID, session.Token = id, token
	}
	session.ID, session.AuthTime, session.Methods = facts.ID, facts.AuthTime, facts.Methods
	session.Actor, session.actorName = facts.Actor, facts.actorName
	session.readAt, session.ownID, session.data = facts.readAt, "", facts.data
	if session.User != nil && session.User.ID == "" {
		if session.User != shown {
			session.User = session.User.Clone()
		}
		session.User.ID, session.ownID = session.UserID, session.UserID
	}
	return session, nil
}

// notifyRead calls Events.Session.
func (s *sessions) notifyRead(ctx context.Context, v *arrival, session *Session, token *Token) {
	emit(ctx, v, "session", s.events.Session, SessionEvent{Session: session, Token: token})
}

// carryData adds the application's data to the token of a session; see [sessiondata.Keeper.Carry]. If the data
// cannot be loaded, the session still continues or starts.
func (s *sessions) carryData(
	ctx context.Context, v *arrival, before, token *Token,
) (*Token, *sessiondata.Loaded, bool) {
	user := &User{ID: token.Subject, Name: token.Name, Email: token.Email, Image: token.Picture}
	raw, data, changed := s.data.Carry(ctx, token.Subject, user, before.Extra[sessiondata.Claim])
	if data.Failed != nil {
		v.log.failure(ctx, errormarks.As(data.Failed, ErrAuth, errormarks.ByServer), v.attrs()...)
	}
	return sessionstate.WithData(token, raw), data, changed
}

// showData adds the public part of the application's data to the response of GET session.
func (s *sessions) showData(ctx context.Context, v *arrival, session *Session) {
	extra, err := session.data.Show(ctx, session.Extra)
	switch {
	case err == nil:
		session.Extra = extra
	case session.data.Failed == nil: // otherwise it is already logged
		v.log.failure(ctx, errormarks.As(err, ErrAuth, errormarks.ByServer), v.attrs()...)
	}
}
