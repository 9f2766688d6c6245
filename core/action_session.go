package core

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"
)

// getSession answers GET session: the session as JSON, or null (WIRE 7).
func (x *exchange) getSession(ctx context.Context) (*Response, error) {
	return x.answerSession(ctx, sessionRead{renew: true})
}

// postSession answers POST session: the callbacks get the posted data with TriggerUpdate.
func (x *exchange) postSession(ctx context.Context) (*Response, error) {
	data := x.fields.Raw("data")
	return x.answerSession(ctx, sessionRead{renew: true, trigger: TriggerUpdate, data: data})
}

func (x *exchange) answerSession(ctx context.Context, read sessionRead) (*Response, error) {
	session, cookies, err := x.readSession(ctx, read)
	if err != nil {
		return nil, err
	}
	body := []byte("null")
	if session != nil {
		body = session.appendJSON(make([]byte, 0, 256))
	}
	response := jsonResponse(body)
	if read.trigger == TriggerUpdate { // only the answer to GET says so in three ways
		response.Header = http.Header{"Content-Type": contentJSON}
	}
	response.Cookies = cookies
	return response, nil
}

// sessionRead says why a session is read.
type sessionRead struct {
	trigger Trigger
	data    []byte // posted with TriggerUpdate
	// renew re-issues the cookie at every read, as the session endpoint does. The request hook re-issues a token only when it
	// has aged by UpdateAge or the jwt callback changed it: most page requests then set no cookie.
	renew bool
}

// readSession returns the session of the request, nil for none, and the cookies to set. An error means that nobody knows: the
// store failed. It is never to be taken for "not signed in".
func (x *exchange) readSession(ctx context.Context, read sessionRead) (*Session, []Cookie, error) {
	presented := x.sessionCookie()
	if presented.Value() == "" {
		return nil, nil, nil
	}
	if x.session.Strategy == StrategyJWT {
		return x.readJWT(ctx, read)
	}
	return x.readStored(ctx, presented.Value(), read)
}

// readJWT reads a session of the jwt strategy. Whatever is wrong with the token ends the session: there is nothing to wait for.
func (x *exchange) readJWT(ctx context.Context, read sessionRead) (*Session, []Cookie, error) {
	session, cookies, err := x.openJWT(ctx, read)
	if errors.Is(err, SessionTokenError) {
		return nil, nil, err
	}
	if err != nil {
		x.logError(ctx, asError(err, JWTSessionError).under(JWTSessionError), x.logAttrs()...)
		return nil, x.clearSession(), nil
	}
	return session, cookies, nil
}

func (x *exchange) openJWT(ctx context.Context, read sessionRead) (*Session, []Cookie, error) {
	token, err := x.liveToken(ctx)
	if err != nil {
		return nil, nil, err
	}
	before := token
	if x.callbacks.JWT != nil {
		if token, err = x.runJWT(ctx, JWTParams{Token: token, Trigger: read.trigger, Session: read.data}); err != nil {
			return nil, nil, err
		}
		if token == nil {
			return nil, x.clearSession(), nil
		}
	}
	now := x.now()
	expires := x.tokenEnds(token, now)
	both := &struct { // one allocation: every page request makes it
		Session
		User
	}{
		Session{Expires: expires, UserID: token.Subject, Token: token},
		User{Name: token.Name, Email: token.Email, Image: token.Picture, Null: token.Null},
	}
	session := &both.Session
	session.User = &both.User
	if session, err = x.shapeSession(ctx, SessionParams{Session: session, Token: token, NewSession: read.data, Trigger: read.trigger}); err != nil {
		return nil, nil, err
	}
	var cookies []Cookie
	if read.renew || x.due(before, now) || x.callbacks.JWT != nil && !sameClaims(before, token) {
		value, err := x.encodeSession(ctx, token)
		if err != nil {
			return nil, nil, err
		}
		if cookies, err = x.setSession(value, expires); err != nil {
			return nil, nil, err
		}
	}
	if x.events.Session != nil {
		x.emit(ctx, "session", func() error { return x.events.Session(ctx, SessionEvent{Session: session, Token: token}) })
	}
	return session, cookies, nil
}

// due tells whether a token has aged so far that a page request extends it.
func (x *exchange) due(t *Token, now time.Time) bool {
	return t.IssuedAt.IsZero() || !now.Before(t.IssuedAt.Add(x.session.UpdateAge))
}

func sameClaims(a, b *Token) bool {
	return a == b || bytes.Equal(a.appendClaims(nil), b.appendClaims(nil))
}

// readStored reads a session of the database strategy: one look-up, and at most one write per UpdateAge.
func (x *exchange) readStored(ctx context.Context, token string, read sessionRead) (*Session, []Cookie, error) {
	stored, user, err := x.storedSession(ctx, token)
	if errors.Is(err, ErrNotFound) {
		return nil, x.clearSession(), nil
	}
	if err != nil {
		return nil, nil, asError(err, SessionTokenError).under(SessionTokenError)
	}
	if due := stored.Expires.Add(x.session.UpdateAge - x.session.MaxAge); !due.After(x.now()) && !x.endsAt(token, stored.Expires) {
		expires := x.until(token)
		switch err := x.store.sessions.UpdateSession(ctx, x.atRest(token), expires); {
		case errors.Is(err, ErrNotFound): // signed out in the meantime
			return nil, x.clearSession(), nil
		case err != nil:
			return nil, nil, errorf(SessionTokenError, "extend session: %w", err)
		}
		stored.Expires = expires
	}
	shown := *user
	session := &Session{
		User:    &User{Name: shown.Name, Email: shown.Email, Image: shown.Image, Null: shown.Null},
		Expires: stored.Expires, UserID: user.ID,
	}
	params := SessionParams{Session: session, User: user, Stored: stored, NewSession: read.data, Trigger: read.trigger}
	if session, err = x.shapeSession(ctx, params); err != nil {
		return nil, nil, asError(err, SessionTokenError).under(SessionTokenError)
	}
	cookies, err := x.setSession(token, stored.Expires)
	if err != nil {
		return nil, nil, asError(err, SessionTokenError)
	}
	if x.events.Session != nil {
		x.emit(ctx, "session", func() error { return x.events.Session(ctx, SessionEvent{Session: session}) })
	}
	return session, cookies, nil
}

// storedSession looks a session up and removes it when it has expired. ErrNotFound: there is none, for certain.
func (x *exchange) storedSession(ctx context.Context, token string) (*StoredSession, *User, error) {
	type found struct {
		session *StoredSession
		user    *User
	}
	f, err := guarded("Store.SessionAndUser", func() (found, error) {
		s, u, err := x.store.sessions.SessionAndUser(ctx, x.atRest(token))
		return found{s, u}, err
	})
	if err != nil {
		return nil, nil, err
	}
	if f.session == nil || f.user == nil {
		return nil, nil, errors.New("the store returned neither a session nor ErrNotFound")
	}
	f.session.Token = Secret(token)
	if end := x.sessionEnds(token); f.session.Expires.Before(x.now()) || !end.IsZero() && end.Before(x.now()) {
		if _, err := x.store.sessions.DeleteSession(ctx, x.atRest(token)); err != nil && !errors.Is(err, ErrNotFound) {
			return nil, nil, err
		}
		return nil, nil, ErrNotFound
	}
	return f.session, f.user, nil
}

// shapeSession runs the session callback, whose answer is what the browser sees.
func (x *exchange) shapeSession(ctx context.Context, p SessionParams) (*Session, error) {
	if x.callbacks.Session == nil {
		return p.Session, nil
	}
	id, token := p.Session.UserID, p.Session.Token
	session, err := guarded("session callback", func() (*Session, error) { return x.callbacks.Session(ctx, p) })
	if session != nil && session.UserID == "" {
		session.UserID, session.Token = id, token
	}
	return session, err
}

// runJWT runs the jwt callback on a copy; without one the token stays as it is. The mark of a token whose user had not proved their
// address survives a callback that makes a token of its own.
func (x *exchange) runJWT(ctx context.Context, p JWTParams) (*Token, error) {
	if x.callbacks.JWT == nil {
		return p.Token, nil
	}
	marked := p.Token.issuedUnproved()
	p.Token, p.User, p.Account = p.Token.clone(), p.User.clone(), p.Account.clone()
	token, err := guarded("jwt callback", func() (*Token, error) { return x.callbacks.JWT(ctx, p) })
	if token != nil && marked && !token.issuedUnproved() {
		return token, token.Extra.Set(emailUnproved, true)
	}
	return token, err
}

// under keeps the cause of an error and gives it another type.
func (e *Error) under(t ErrorType) *Error {
	if e.Type == t {
		return e
	}
	return &Error{Type: t, Cause: e}
}
