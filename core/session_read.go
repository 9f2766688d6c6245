package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/revocation"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// sessions reads, creates and ends the sessions of an Auth under both strategies.
type sessions struct {
	strategies
	callbacks *Callbacks
	events    *Events
	now       func() time.Time
	// facts reports whether sessions carry their ID, authentication time and methods. A plugin or Session.Revocation turns
	// it on.
	facts bool
	// records stores the records of sessions. It is nil if there are none.
	records *sessionRecords
	// revoked has the revoked sessions of StrategyJWT. It is nil if Session.Revocation is off.
	revoked *revocation.List
	// lister lists stored sessions. It is nil if the store does not implement it.
	lister store.SessionLister
	begun  *providerSessions
	// away tracks provider sessions, for sign-out at the provider. It is nil if no provider has OAuthProvider.Logout.
	away *awaySessions
	// data loads the application's data (Config.Data). It is nil if Config.Data is not set.
	data *dataKeeper
	// exchanges remembers the results of recent callbacks until a sign-out.
	exchanges *exchanges
}

func newSessions(
	c *Config, seal sealer, secrets []string, store stores, cleaning *cleaning, proofs, facts bool, log *reporter,
) *sessions {
	s := &sessions{
		callbacks: &c.Callbacks, events: &c.Events, now: c.Now, begun: newProviderSessions(c.Now), facts: facts,
		revoked: newRevocations(c, store.records, log), lister: store.lister, exchanges: newExchanges(c.Now),
		strategies: strategies{
			config: c.Session, replaced: newReplacements(c.Now),
			jwt: jwtSessions{
				sealer: seal, session: c.Session, config: c.JWT, secrets: secrets, callback: c.Callbacks.JWT,
				users: store.Store, proofs: proofs, facts: facts,
			},
			rows: storedSessions{
				config: c.Session, audience: c.Audience, store: store.sessions, now: c.Now, rand: c.Rand,
				cleaning: cleaning, facts: facts,
			},
		},
	}
	if facts {
		s.records = newSessionRecords(store.records, c.Now, log)
		s.rows.records = s.records
	}
	s.jwt.revoked = s.revoked
	return s
}

// newRevocations returns the list of revoked sessions. It is nil if Session.Revocation is off.
func newRevocations(c *Config, records store.RecordStore, log *reporter) *revocation.List {
	if c.Session.Revocation.On != True || records == nil {
		return nil
	}
	return revocation.New(revocation.Options{
		Records: records, Every: c.Session.Revocation.Every, Strict: c.Session.Revocation.Strict,
		TokenAge: max(c.JWT.MaxAge, c.Session.MaxAge), Now: c.Now, Guard: guard,
		Failed: func(ctx context.Context, err error) {
			log.failure(ctx, errorf(ErrStore, "read the list of ended sessions (Session.Revocation): %w", err))
		},
	})
}

// RevocationAge returns the time since this process last read the revocation list. Sessions that other processes have
// ended since then are still accepted here. ok is false if Session.Revocation is off, if nothing was read yet, and for
// an Auth of [PerRequest]. The list is read when requests arrive, so the age grows while there are none.
func (a *Auth) RevocationAge() (age time.Duration, ok bool) {
	if a.sessions == nil || a.sessions.revoked == nil {
		return 0, false
	}
	return a.sessions.revoked.Age()
}

// sessionRead says why a session is read. The cookie is set only if the session is due for renewal (UpdateAge), if it
// has changed, or if its cookie has an outdated form. Each cookie that is set can undo what another response has
// decided in the meantime.
type sessionRead struct {
	trigger Trigger
	update  json.RawMessage // the posted data, with TriggerUpdate
	asked   bool            // by GET session: a client with a bearer token gets a new token each time
}

// updates reports whether the request changes the session.
func (r *sessionRead) updates() bool { return r.trigger == TriggerUpdate }

// read returns the session of a request, or nil if there is none, and the cookies to set (docs/protocol.md §7.2, §7.3).
// An error means that the store or a callback failed and the session is unknown. Callers must not treat that as "not
// signed in".
func (s *sessions) read(ctx context.Context, p *presented, read sessionRead) (*Session, []Cookie, error) {
	if err := p.settle(ctx); err != nil {
		return nil, nil, err
	}
	if p.cookie().Stray() { // treated like a token that cannot be read
		p.at.log.failure(ctx, &Error{Type: ErrJWTSession, Cause: errNoSession}, p.at.attrs()...)
		return nil, p.clearEnded(), nil
	}
	if p.value() == "" {
		p.noteMalformed(ctx)
		return nil, nil, nil
	}
	if s.config.Strategy == StrategyJWT {
		return s.readJWT(ctx, p, read)
	}
	return s.readStored(ctx, p, read)
}

// readJWT reads a session under StrategyJWT. A token that cannot be decrypted, has expired or was revoked ends the
// session, because no later request could use it. A later failure is the application's. Then the cookie stays, because
// a later request may succeed.
func (s *sessions) readJWT(ctx context.Context, p *presented, read sessionRead) (*Session, []Cookie, error) {
	token, err := p.live(ctx)
	if errors.Is(err, ErrSessionToken) {
		return nil, nil, err
	}
	if err != nil {
		p.at.log.failure(ctx, asError(err, ErrJWTSession).under(ErrJWTSession), p.at.attrs()...)
		p.at.sessionEnded(ctx, err)
		return nil, p.clearEnded(), nil
	}
	if s.jwt.canEndOnVerification(token) {
		outdated, err := s.outdated(ctx, p, token)
		switch {
		case err != nil:
			return nil, nil, err
		case outdated:
			return nil, p.clearEnded(), nil
		}
	}
	session, cookies, err := s.continueJWT(ctx, p, token, read)
	if err != nil {
		return nil, nil, &Error{Type: ErrJWTSession, Cause: fault(err)}
	}
	return session, cookies, nil
}

// outdated reports whether the session of a token ended when its user's address was verified. While the store is
// unavailable the session continues but links no accounts; with Revocation.Strict the read fails with an error of type
// ErrSessionToken.
func (s *sessions) outdated(ctx context.Context, p *presented, token *Token) (bool, error) {
	outdated, err := s.jwt.outdated(ctx, token)
	switch {
	case err != nil:
		err := errorf(ErrStore, "look up whether an email verification has ended the session: %w", err)
		if s.revoked != nil && s.revoked.Strict {
			return false, err.under(ErrSessionToken)
		}
		p.at.log.failure(ctx, err, p.at.attrs()...)
		return false, nil
	case outdated:
		attrs := append(p.at.attrs(), slog.String("user_id", token.Subject))
		p.at.log.info(ctx, "a session has ended: its user's email address was verified after it started", attrs...)
		p.at.decidedOf(ctx, audit.SessionEnded, audit.ReasonProved, token.Subject, token.publicID())
	}
	return outdated, nil
}

// continueJWT builds the session of a valid token, and renews the token if necessary.
func (s *sessions) continueJWT(
	ctx context.Context, p *presented, before *Token, read sessionRead,
) (*Session, []Cookie, error) {
	token, err := s.jwt.runCallback(ctx, p.at, JWTParams{Token: before, Trigger: read.trigger, Update: read.update})
	if err != nil {
		return nil, nil, err
	}
	if token == nil {
		p.at.decidedOf(ctx, audit.SessionEnded, audit.ReasonRevoked, before.Subject, before.publicID())
		return nil, p.clearEnded(), nil
	}
	var data *loadedData
	loaded := false
	if s.data != nil {
		token, data, loaded = s.data.carry(ctx, p.at, before, token)
	}
	now := s.now()
	renew := read.updates() || read.asked && p.fromHeader || loaded || s.jwt.needsRenewal(before, now) ||
		p.outdatedForm() || s.callbacks.JWT != nil && !sameClaims(before, token)
	used := before.IssuedAt // the lifetime of the browser's cookie starts here
	if renew {
		used = now
	}
	expires := s.jwt.ends(token, used)
	both := &struct { // one allocation, as every page request makes it
		Session
		User
	}{
		Session{Expires: expires, UserID: token.Subject, Token: token, data: data},
		User{Name: token.Name, Email: token.Email, Image: token.Picture, Null: token.Null},
	}
	session := &both.Session
	session.User = &both.User
	if s.facts {
		session.ID, session.readAt = token.publicID(), now
		session.AuthTime, session.Methods = token.facts()
		s.records.recordUse(ctx, session.ID, expires)
	}
	params := SessionParams{Session: session, Token: token, Update: read.update, Trigger: read.trigger}
	if session, err = s.runCallback(ctx, params); err != nil {
		return nil, nil, err
	}
	var cookies []Cookie
	if renew && p.mayRenew(read.updates()) && !s.jwt.hasEnded(before) {
		if cookies, err = s.reissue(ctx, p, s.withRevocationID(before, token), expires); err != nil {
			return nil, nil, err
		}
		p.noteReplaced(read.replaces())
	}
	if s.events.Session != nil {
		emit(ctx, p.at, "session", func() error {
			return s.events.Session(ctx, SessionEvent{Session: session, Token: token})
		})
	}
	return session, cookies, nil
}

// replaces returns how the response replaces the token of the request.
func (r *sessionRead) replaces() replacement {
	if r.updates() {
		return tokenUpdated
	}
	return tokenRenewed
}

// withRevocationID returns the token that replaces a session's token. With Session.Revocation it has the same
// revocation ID as the token before, even if the session began without one. Otherwise a renewal that is in progress
// while the session ends, in this or another process, would produce a token that is not revoked.
func (s *sessions) withRevocationID(before, t *Token) *Token {
	if s.revoked == nil || before.ID == "" || t.fact(factSession) != "" {
		return t
	}
	named := t.withFacts()
	named.factValues[factSession] = string(exactjson.AppendText(nil, before.ID))
	return named
}

// reissue encrypts a new token. If it is too large for the router, no cookie is set: the browser's cookie stays valid.
func (s *sessions) reissue(ctx context.Context, p *presented, token *Token, expires time.Time) ([]Cookie, error) {
	value, err := s.jwt.encode(ctx, p.at.cookies, token)
	if err != nil {
		return nil, err
	}
	cookies, err := p.set(value, expires)
	var small *headerLimitError
	if errors.As(err, &small) {
		p.at.log.failure(ctx, asError(err, ErrSessionToken), p.at.attrs()...)
		return nil, nil
	}
	return cookies, err
}

// readStored reads a session under StrategyDatabase, with one lookup and at most one write per UpdateAge.
func (s *sessions) readStored(ctx context.Context, p *presented, read sessionRead) (*Session, []Cookie, error) {
	record, user, err := p.stored(ctx)
	if errors.Is(err, ErrNotFound) {
		p.at.sessionEnded(ctx, err)
		return nil, p.clearEnded(), nil
	}
	if err != nil {
		return nil, nil, asError(err, ErrSessionToken).under(ErrSessionToken)
	}
	return s.continueStored(ctx, p, record, user, read)
}

// continueStored builds the session of a stored record, and extends it if it is due.
func (s *sessions) continueStored(
	ctx context.Context, p *presented, record *store.Session, user *User, read sessionRead,
) (*Session, []Cookie, error) {
	extended, err := s.rows.extend(ctx, record)
	switch {
	case errors.Is(err, ErrNotFound): // signed out in the meantime
		return nil, p.clearEnded(), nil
	case err != nil:
		return nil, nil, errorf(ErrSessionToken, "extend session: %w", err)
	}
	both := &struct { // one allocation, as every page request makes it
		Session
		User
	}{
		Session{Expires: record.Expires, UserID: user.ID},
		User{Name: user.Name, Email: user.Email, Image: user.Image, Null: user.Null},
	}
	session := &both.Session
	session.User = &both.User
	if s.data != nil {
		session.data = &loadedData{keeper: s.data, user: *session.User}
		session.data.user.ID = user.ID
	}
	if s.facts {
		session.ID, session.readAt = publicID(s.rows.atRest(string(record.Token))), s.now()
		session.AuthTime, session.Methods = factsIn(string(record.Token))
		s.records.recordUse(ctx, session.ID, session.Expires)
	}
	params := SessionParams{Session: session, User: user, Stored: record, Update: read.update, Trigger: read.trigger}
	if session, err = s.runCallback(ctx, params); err != nil {
		return nil, nil, &Error{Type: ErrSessionToken, Cause: err}
	}
	var cookies []Cookie
	if (read.updates() || extended || p.outdatedForm()) && p.mayRenew(read.updates()) {
		if cookies, err = p.set(string(record.Token), record.Expires); err != nil {
			return nil, nil, asError(err, ErrSessionToken)
		}
	}
	if s.events.Session != nil {
		emit(ctx, p.at, "session", func() error { return s.events.Session(ctx, SessionEvent{Session: session}) })
	}
	return session, cookies, nil
}

// runCallback runs the session callback. The browser receives the session that it returns.
func (s *sessions) runCallback(ctx context.Context, p SessionParams) (*Session, error) {
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
	session.Actor, session.readAt, session.ownID, session.data = facts.Actor, facts.readAt, "", facts.data
	if session.User != nil && session.User.ID == "" {
		if session.User != shown {
			session.User = session.User.Clone()
		}
		session.User.ID, session.ownID = session.UserID, session.UserID
	}
	return session, nil
}

// getSession handles GET session. The response is the session as JSON, or null.
func (s *sessions) getSession(ctx context.Context, c *call) (*Response, error) {
	body, cookies, err := s.asJSON(ctx, c, sessionRead{asked: true})
	if err != nil {
		return nil, err
	}
	response := jsonResponse(body)
	response.Cookies = cookies
	return response, nil
}

// postSession handles POST session. The callbacks receive the posted data with TriggerUpdate.
func (s *sessions) postSession(ctx context.Context, c *call) (*Response, error) {
	body, cookies, err := s.asJSON(ctx, c, sessionRead{trigger: TriggerUpdate, update: c.fields.Raw("data")})
	if err != nil {
		return nil, err
	}
	// Only the response to GET has all three headers against caching.
	response := answerJSON(body)
	response.Cookies = cookies
	return response, nil
}

func (s *sessions) asJSON(ctx context.Context, c *call, read sessionRead) ([]byte, []Cookie, error) {
	session, cookies, err := s.read(ctx, &c.session, read)
	if err != nil || session == nil {
		c.session.noSession = err == nil
		return []byte("null"), cookies, err
	}
	if s.data != nil {
		s.data.show(ctx, &c.arrival, session)
	}
	return session.appendJSON(make([]byte, 0, 256)), cookies, nil
}
