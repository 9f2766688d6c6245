package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	// renew sets the cookie at every read, as the session endpoint does. The request hook sets it only when the session has aged by
	// UpdateAge or the jwt callback changed the token: most page requests then set no cookie.
	renew bool
}

// readSession returns the session of the request, nil for none, and the cookies to set. An error means that nobody knows: the
// store or a callback failed. It is never to be taken for "not signed in".
func (x *exchange) readSession(ctx context.Context, read sessionRead) (*Session, []Cookie, error) {
	if err := x.settleSession(ctx); err != nil {
		return nil, nil, err
	}
	presented := x.sessionCookie()
	if presented.Stray() { // as a token that cannot be read
		x.logError(ctx, &Error{Type: JWTSessionError, Cause: errNoSession}, x.logAttrs()...)
		return nil, x.clearSession(), nil
	}
	if presented.Value() == "" {
		return nil, nil, nil
	}
	if x.session.Strategy == StrategyJWT {
		return x.readJWT(ctx, read)
	}
	return x.readStored(ctx, presented.Value(), read)
}

// readJWT reads a session of the jwt strategy. A token that is none, or none any more, ends the session: there is nothing to wait
// for. What fails after that is the application's, and the cookie stays: a later request may succeed.
func (x *exchange) readJWT(ctx context.Context, read sessionRead) (*Session, []Cookie, error) {
	token, err := x.liveToken(ctx)
	if errors.Is(err, SessionTokenError) {
		return nil, nil, err
	}
	if err != nil {
		x.logError(ctx, asError(err, JWTSessionError).under(JWTSessionError), x.logAttrs()...)
		return nil, x.clearSession(), nil
	}
	if x.endsWithProof(token) {
		switch outdated, err := x.outdated(ctx, token); {
		case err != nil: // an encrypted session outlives an outage; links are refused in it
			x.logError(ctx, errorf(AdapterError, "look up whether a proof has ended the session: %w", err), x.logAttrs()...)
		case outdated:
			x.info(ctx, "a session has ended: the owner of its user's address has proved it since", append(x.logAttrs(), slog.String("user_id", token.Subject))...)
			return nil, x.clearSession(), nil
		}
	}
	session, cookies, err := x.continueJWT(ctx, token, read)
	if err != nil {
		return nil, nil, &Error{Type: JWTSessionError, Cause: fault(err)}
	}
	return session, cookies, nil
}

// continueJWT makes the session of a good token, and the token that takes its place.
func (x *exchange) continueJWT(ctx context.Context, before *Token, read sessionRead) (*Session, []Cookie, error) {
	token, err := x.runJWT(ctx, JWTParams{Token: before, Trigger: read.trigger, Session: read.data})
	if err != nil {
		return nil, nil, err
	}
	if token == nil {
		return nil, x.clearSession(), nil
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
		var small *headerLimitError
		switch cookies, err = x.setSession(value, expires); {
		case errors.As(err, &small): // the cookie that the browser has stays good
			x.logError(ctx, asError(err, SessionTokenError), x.logAttrs()...)
		case err != nil:
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
	changed := read.renew
	if due := stored.Expires.Add(x.session.UpdateAge - x.session.MaxAge); !due.After(x.now()) && !x.endsAt(token, stored.Expires) {
		changed = true
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
		return nil, nil, &Error{Type: SessionTokenError, Cause: err}
	}
	var cookies []Cookie
	if changed {
		if cookies, err = x.setSession(token, stored.Expires); err != nil {
			return nil, nil, asError(err, SessionTokenError)
		}
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
	id, token, shown := p.Session.UserID, p.Session.Token, p.Session.User
	if x.callbacks.Session == nil {
		shown.ID, p.Session.ownID = id, id
		return p.Session, nil
	}
	session, err := guarded("session callback", func() (*Session, error) { return x.callbacks.Session(ctx, p) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("Callbacks.Session: %w", err)
	case session == nil:
		return nil, errors.New("Callbacks.Session returned neither a session nor an error: return p.Session, changed or not; only Callbacks.JWT ends a session, by a nil token")
	}
	if session != p.Session { // the application's, which others may be reading
		own := *session
		session = &own
	}
	if session.UserID == "" {
		session.UserID, session.Token = id, token
	}
	session.ownID = ""
	if session.User != nil && session.User.ID == "" {
		if session.User != shown {
			session.User = session.User.Clone()
		}
		session.User.ID, session.ownID = session.UserID, session.UserID
	}
	return session, nil
}

// runJWT runs the jwt callback on a copy; without one the token stays as it is. A nil token, which ends the session, is told once,
// here. The mark of a token whose user had not proved their address survives a callback that makes a token of its own.
func (x *exchange) runJWT(ctx context.Context, p JWTParams) (*Token, error) {
	if x.callbacks.JWT == nil {
		return p.Token, nil
	}
	id := p.Token.Subject
	mark, marked := p.Token.Extra[emailUnproved]
	p.Token, p.User, p.Account = p.Token.clone(), p.User.Clone(), p.Account.Clone()
	token, err := guarded("jwt callback", func() (*Token, error) { return x.callbacks.JWT(ctx, p) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("Callbacks.JWT: %w", err)
	case token == nil:
		x.info(ctx, "the jwt callback ended a session: it returned no token", append(x.logAttrs(), slog.String("user_id", id))...)
	case marked && !token.issuedUnproved():
		return token, token.Extra.Set(emailUnproved, mark)
	}
	return token, nil
}

// under keeps the cause of an error and gives it another type.
func (e *Error) under(t ErrorType) *Error {
	if e.Type == t {
		return e
	}
	return &Error{Type: t, Cause: e}
}
