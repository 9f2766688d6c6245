package core

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/sessionlist"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/internal/sessionrecord"
	"github.com/latchkey-go/latchkey/internal/storedtoken"
)

// current implements [requestSession].
func (p *storedSession) current(ctx context.Context) (*validSession, error) {
	if p.Value() == "" {
		return nil, nil
	}
	found, err := p.rows.Find(ctx, p.Value())
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	at, methods, _ := factsIn(p.Value())
	return p.withActor(ctx, p, &validSession{
		user: found.User, authTime: at, methods: methods, record: found.Session,
		cookieEnds: p.rows.CookieExpiry(storedtoken.IsShort(p.Value()), found.Session.Expires),
	})
}

// read implements [requestSession], with one lookup and at most one write per UpdateAge.
func (p *storedSession) read(ctx context.Context, why sessionRead) (*Session, []Cookie, error) {
	found, err := p.First(ctx)
	switch {
	case errors.Is(err, ErrNotFound):
		p.at.sessionEnded(ctx, err)
		return nil, p.clearEnded(), nil
	case err != nil:
		return nil, nil, unknownSession(err)
	}
	by, err := p.checkActor(ctx, &p.tokenCarrier, p.Impersonator(), found.User.ID)
	if err != nil {
		return nil, nil, err
	}
	extended := false
	if !why.again && by == nil {
		extended, err = p.rows.Extend(ctx, found.Session)
	}
	switch {
	case errors.Is(err, ErrNotFound): // signed out in the meantime
		return nil, p.clearEnded(), nil
	case err != nil:
		return nil, nil, errorf(ErrSessionToken, "extend session: %w", err)
	}
	session, err := p.sessionCallback(ctx, SessionParams{
		Session: p.sessionOf(ctx, found, by), User: found.User, Stored: found.Session, Update: why.update,
		Trigger: why.trigger,
	})
	if err != nil {
		return nil, nil, &Error{Type: ErrSessionToken, Cause: err}
	}
	var cookies []Cookie
	if (why.updates() || extended || p.Outdated()) && p.MayRenew(why.updates()) {
		if cookies, err = p.setRow(found.Session); err != nil {
			return nil, nil, errormarks.As(err, ErrSessionToken)
		}
	}
	p.notifyRead(ctx, p.at, session, nil)
	return session, cookies, nil
}

// sessionOf returns the session of a stored one, and records that it was used. by is the session of the user who
// impersonates its user, or nil.
func (p *storedSession) sessionOf(ctx context.Context, found *sessionstate.Found, by *Session) *Session {
	record, user := found.Session, found.User
	session := &Session{
		User:    &User{Name: user.Name, Email: user.Email, Image: user.Image, Null: user.Null},
		Expires: record.Expires, UserID: user.ID,
	}
	if p.data != nil {
		of := *session.User
		of.ID = user.ID
		session.data = p.data.Of(user.ID, &of)
	}
	if p.facts {
		session.ID, session.readAt = p.rows.PublicID(string(record.Token)), p.now()
		session.AuthTime, session.Methods, session.ACR = factsIn(string(record.Token))
	}
	return p.used(ctx, session, by)
}

// start implements [requestSession].
func (p *storedSession) start(
	ctx context.Context, id *identity, who member,
) (cookies []Cookie, sessionID string, err error) {
	kept := p.rows.AtRest(string(who.session.Token))
	sessionID = publicID(kept)
	p.providerSessions.Add(id.account.Provider, id.sid(), kept)
	if p.data != nil {
		p.data.Forget(who.user.ID)
	}
	if p.facts && !who.keepsSession {
		p.recordSignIn(ctx, p.at, id, who, sessionID, sessionrecord.Note{Ends: who.session.Expires.Unix()})
	}
	cookies, err = p.setRow(who.session)
	return cookies, sessionID, err
}

// renew implements [requestSession].
func (p *storedSession) renew(ctx context.Context, again *reauthentication) ([]Cookie, error) {
	current, err := p.current(ctx)
	if err != nil {
		return nil, errormarks.As(err, ErrSessionToken)
	}
	if current == nil || !p.MayRenew(true) {
		return nil, errEndedMeanwhile
	}
	user := current.user
	_, _, acr := factsIn(p.Value())
	id := &identity{
		user: user.Clone(), methods: again.methods, acr: cmp.Or(again.acr, acr), short: p.Facts(ctx).Short,
		account: &Account{Type: TypeCredentials, Provider: again.by, ProviderAccountID: user.ID},
	}
	before := p.rows.AtRest(p.Value())
	note := p.records.Read(ctx, publicID(before))
	who := member{user: user.Clone()}
	if err := p.newRow(ctx, id, &who); err != nil {
		return nil, err
	}
	if !p.endReplacedRow(ctx, p.at, p.Value(), who.session) {
		p.takeBack(ctx, p.at, who, "")
		return nil, errEndedMeanwhile
	}
	p.endOldest(ctx, p.at, who.session)
	who.keepsSession = true // the session continues; its record is copied below
	cookies, after, err := p.issue(ctx, p, id, who)
	if err != nil {
		return nil, err
	}
	p.providerSessions.Move(before, p.rows.AtRest(string(who.session.Token)))
	if p.facts {
		note.Ends, note.Methods = who.session.Expires.Unix(), audit.Texts(id.proofs())
		p.addRecord(ctx, p.at, after, user.ID, note)
	}
	return cookies, nil
}

// end implements [requestSession]. It deletes the session of every cookie value in the request. Otherwise the browser
// would continue with another session that a sibling subdomain planted, or with a leftover cookie.
func (p *storedSession) end(ctx context.Context) (event SignOutEvent, err error) {
	event.Session, event.SessionID, err = p.rows.DeleteAll(ctx, p.Tokens.LookUps())
	return event, err
}

// endReplaced ends the session of the request, which a stored session replaces after a sign-in, and enforces
// Session.MaxPerUser.
func (s *sessions) endReplaced(ctx context.Context, c *tokenCarrier, id *identity, by *store.Session) {
	if id.endsReplaced() && !s.keepsReplaced(ctx, c, by.UserID) {
		s.endReplacedRow(ctx, c.at, c.Value(), by)
	}
	s.endOldest(ctx, c.at, by)
}

// newRow stores a new session. It does not change the session of the request.
func (s *sessions) newRow(ctx context.Context, id *identity, who *member) error {
	by := id.authenticatedAt(s.now(), *who)
	session, err := s.rows.Create(ctx, s.rows.Store, who.user.ID, by.short, by.facts())
	switch {
	case err != nil && id.account.Type == TypeCredentials:
		err = errorf(ErrStore, "credentials of provider %q: the user that Authorize returns must be in the store: %w",
			id.account.Provider, err)
		return s.withoutUser(ctx, id.user, err)
	case err != nil:
		return errorf(ErrStore, "create a session: %w", err)
	}
	who.session = session
	return nil
}

// withoutUser explains why the store rejected a session, if the application returned a user who is not in the store.
func (s *sessions) withoutUser(ctx context.Context, user *User, err error) error {
	if errors.Is(err, ErrStoreUnavailable) { // another store call would only delay the response
		return err
	}
	_, absent := s.jwt.Users.User(ctx, user.ID)
	if !errors.Is(absent, ErrNotFound) {
		return err
	}
	return errorf(ErrStore, "sessions are in the store, and the store has no user with the ID %q: return a stored user "+
		"(create one with Store.CreateUser and core.NewID), or set Session.Strategy to StrategyJWT: %w", user.ID, err)
}

// endReplacedRow deletes the stored session that a new session replaces, so that a copy of the old cookie becomes
// invalid. It returns false only if the store says that the session was already deleted.
func (s *sessions) endReplacedRow(ctx context.Context, v *arrival, token string, by *store.Session) (there bool) {
	if token == "" || s.config.Strategy == StrategyJWT || random.Same(token, by.Token) {
		return true
	}
	switch ended, err := s.rows.Delete(ctx, token); {
	case err == nil && ended != nil:
		v.decidedOf(ctx, audit.SessionEnded, audit.ReasonReplaced, ended.UserID, s.rows.PublicID(token))
	case err != nil && !errors.Is(err, ErrNotFound):
		v.log.failure(ctx, errorf(ErrStore, "remove the session that a sign-in replaced: %w", err), v.attrs()...)
	case err != nil:
		return false
	}
	return true
}

// endOldest enforces Session.MaxPerUser after a sign-in. It ends the sessions that expire first and never the newest
// one. If the store fails, the error is logged, and the next sign-in tries again.
func (s *sessions) endOldest(ctx context.Context, v *arrival, newest *store.Session) {
	if s.config.MaxPerUser == 0 || s.config.Strategy == StrategyJWT {
		return
	}
	err := s.all.EndExcess(ctx, newest, s.config.MaxPerUser, func(id string) {
		v.decidedOf(ctx, audit.SessionEnded, audit.ReasonTooMany, newest.UserID, id)
	})
	if err != nil {
		v.log.failure(ctx, errorf(ErrStore, "end the sessions beyond Session.MaxPerUser: %w", err), v.attrs()...)
	}
}

// factsIn returns the authentication time, methods and context class in a token. The zero time means that the token has
// none, or that the time is unknown.
func factsIn(token string) (at time.Time, methods []amr.Method, acr string) {
	facts, _ := storedtoken.Read(token)
	return facts.AuthTime, sessionlist.Methods(facts.Methods), facts.ACR
}

// setRow returns the cookies for a stored session.
func (p *storedSession) setRow(s *store.Session) ([]Cookie, error) {
	return p.set(string(s.Token), p.rows.CookieExpiry(storedtoken.IsShort(string(s.Token)), s.Expires))
}
