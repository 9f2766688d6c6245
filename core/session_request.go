package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/sessioncookies"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/cookie"
)

// requestSession is the session of a request, from its cookie or bearer token. [jwtSession] and [storedSession]
// implement it, and [sessions.of] creates it. The methods can be called in any order. It is not safe for concurrent
// use.
type requestSession interface {
	// carrier returns the cookies or the header field that contain the session token.
	carrier() *tokenCarrier
	// Facts returns the content of the token. It needs no query, and the session may have ended.
	Facts(ctx context.Context) sessionstate.TokenFacts
	// ExpiredActor returns the actor of an impersonation that has lasted impersonationAge. It needs no query.
	ExpiredActor() actor
	// current looks up the session now: it may have ended since the request arrived, in a callback of the application or
	// while the request waited for a provider. It returns nil if there is no session.
	current(ctx context.Context) (*validSession, error)
	// read implements [sessions.read] for a request that has a session token.
	read(ctx context.Context, why sessionRead) (*Session, []Cookie, error)
	// start implements [sessions.issue].
	start(ctx context.Context, id *identity, who member) (cookies []Cookie, sessionID string, err error)
	// renew replaces the session token after the user has authenticated again. The error matches ErrNotFound if the
	// session has ended.
	renew(ctx context.Context, again *reauthentication) ([]Cookie, error)
	// end ends the session and returns what Events.SignOut receives.
	end(ctx context.Context) (SignOutEvent, error)
}

// validSession is a session that was valid when it was looked up.
type validSession struct {
	// user is the stored user, or the user as the claims describe them (StrategyJWT).
	user *User
	// authTime is when the user authenticated. It is zero if that is unknown.
	authTime time.Time
	methods  []amr.Method   // how they authenticated
	token    *Token         // StrategyJWT
	record   *store.Session // StrategyDatabase
	// cookieEnds is the expiry of its cookie, unless the session is renewed. It is zero for a short session.
	cookieEnds time.Time
	// actor is the session of the user who impersonates this one, or nil.
	actor *Session
}

// of returns the session of a request. If the request has several session cookies, it selects the one that is a valid
// session. Otherwise a sibling subdomain that plants cookies of our name could sign users out, or could make one
// session be checked and another one be used. Most requests have a single candidate and no cost here. An error means
// that the store failed; the result can still clear the cookies.
func (s *sessions) of(ctx context.Context, v *arrival) (requestSession, error) {
	c := s.carrierOf(v)
	if v.readsAuthorization() {
		if token, there, _ := v.bearer(); there {
			if kind, _ := v.credential(); kind != nil { // not a session token
				token = ""
			}
			c.FromHeader, c.Tokens = true, cookie.Whole(v.cookies.Session.Name(), token)
		}
	}
	return s.restore(ctx, c)
}

// ofCookies is of for a response that sets cookies even if the request has a bearer token.
func (s *sessions) ofCookies(ctx context.Context, v *arrival) (requestSession, error) {
	return s.restore(ctx, s.carrierOf(v))
}

// sessionIn returns the session in other cookies of the browser: an administrator's own, or that of another account. It
// may have ended.
func (s *sessions) sessionIn(ctx context.Context, v *arrival, tokens cookie.Joined) (requestSession, error) {
	c := s.carrierOf(v)
	c.Tokens = tokens
	return s.choose(ctx, c)
}

func (s *sessions) carrierOf(v *arrival) tokenCarrier {
	b := s.browserOf(v)
	return tokenCarrier{at: v, Carrier: b.Carrier(s.replaced)}
}

// browserOf returns the cookies of the browser that sent a request.
func (s *sessions) browserOf(v *arrival) sessioncookies.Browser {
	b := sessioncookies.Browser{Cookies: v.cookies, Jar: v.jar, HeaderLimit: v.r.HeaderLimit}
	if s.kept != nil {
		b.Keys = s.kept.keys
	}
	return b
}

func (s *sessions) choose(ctx context.Context, c tokenCarrier) (requestSession, error) {
	if s.config.Strategy == StrategyJWT {
		p := &jwtSession{sessions: s, tokenCarrier: c}
		p.SealedToken = sessionstate.SealedToken{State: &s.jwt, From: &p.Carrier}
		return p, unknownSession(p.Choose(ctx))
	}
	p := &storedSession{sessions: s, tokenCarrier: c}
	p.StoredToken = sessionstate.StoredToken{Rows: &s.rows, From: &p.Carrier}
	return p, unknownSession(p.Choose(ctx))
}

// unknownSession returns an error of type ErrSessionToken: it is unknown whether there is a session.
func unknownSession(err error) error {
	if err == nil {
		return nil
	}
	return errormarks.Typed(err, ErrSessionToken)
}

// tokenCarrier is the session token of a request, and its cookies or header field.
type tokenCarrier struct {
	at *arrival
	sessioncookies.Carrier
	keeping *keeping // nil until a sign-in asks whether it keeps this session
}

func (p *tokenCarrier) carrier() *tokenCarrier { return p }

// set is Carrier.Set with the cookies of a response.
func (p *tokenCarrier) set(value string, expires time.Time) ([]Cookie, error) {
	if one, ok := p.SetOne(value, expires); ok { // without a copy
		return []Cookie{Cookie(one)}, nil
	}
	all, err := p.Set(value, expires)
	return ownCookies(all), err
}

// clear is Carrier.Clear with the cookies of a response.
func (p *tokenCarrier) clear() []Cookie { return ownCookies(p.Clear()) }

// clearEnded is Carrier.ClearEnded with the cookies of a response.
func (p *tokenCarrier) clearEnded() []Cookie { return ownCookies(p.ClearEnded()) }

// jwtSession is the session of a request under StrategyJWT. Its cookie contains the whole session.
type jwtSession struct {
	*sessions
	tokenCarrier
	sessionstate.SealedToken
}

// storedSession is the session of a request under StrategyDatabase.
type storedSession struct {
	*sessions
	tokenCarrier
	sessionstate.StoredToken
}

var errSessionChanged = errors.New("core: ActionRequest.Session: the session starts with this response: " +
	"it is available from the next request on")

// sessionRead says why a session is read. The cookie is set only if the session is due for renewal (UpdateAge), if it
// has changed, or if its cookie has an outdated form. Each cookie that is set can undo what another response has
// decided in the meantime.
type sessionRead struct {
	trigger Trigger
	update  json.RawMessage // the posted data, with TriggerUpdate
	again   bool            // a stream checks its session again: it is not extended, because its user may be away
	asked   bool            // by GET session: a client with a bearer token gets a new token each time
}

// read returns the session of a request, or nil if there is none, and the cookies to set (docs/protocol.md §7.2, §7.3).
// An error means that the store or a callback failed and the session is unknown. Callers must not treat that as "not
// signed in".
func (s *sessions) read(ctx context.Context, r requestSession, why sessionRead) (*Session, []Cookie, error) {
	c := r.carrier()
	if c.Tokens.Stray() { // treated like a token that cannot be read
		c.at.log.failure(ctx, &Error{Type: autherr.JWTSession, Cause: sessionstate.ErrAbsent}, c.at.attrs()...)
		return nil, c.clearEnded(), nil
	}
	if c.Value() != "" {
		session, cookies, err := r.read(ctx, why)
		if errors.Is(err, errImpersonationEnded) {
			return nil, s.endImpersonated(ctx, r, err), nil
		}
		return session, cookies, err
	}
	if _, _, malformed := c.at.bearer(); c.FromHeader && malformed != nil {
		c.at.log.failure(ctx, &Error{Type: autherr.JWTSession, Cause: errormarks.ByClient(malformed)}, c.at.attrs()...)
	}
	return nil, nil, nil
}

// endImpersonated ends an impersonated session that may not continue, and returns the cookies that clear it.
func (s *sessions) endImpersonated(ctx context.Context, r requestSession, why error) []Cookie {
	c := r.carrier()
	c.at.log.info(ctx, "an impersonation has ended: "+why.Error(), c.at.attrs()...)
	event, err := r.end(ctx)
	if err != nil {
		c.at.log.failure(ctx, errormarks.As(err, ErrSessionToken), c.at.attrs()...)
	}
	c.at.note(ctx, audit.Event{
		Name: audit.SessionEnded, Outcome: audit.OK, Reason: audit.ReasonImpersonation, UserID: event.userID(),
		SessionID: event.SessionID, ActorID: r.Facts(ctx).Actor.Subject,
	})
	return c.clearEnded()
}

// reauthentication describes what [ActionRequest.RenewSession] changes in a session.
type reauthentication struct {
	by      string       // the plugin
	methods []amr.Method // the session's methods from now on
	now     bool         // the user has just authenticated again
	acr     string       // the class that a provider has just reported; if it is empty the session keeps its own
	moved   sessionstate.Moved
}

var errEndedMeanwhile = errormarks.ByClient(
	fmt.Errorf("ActionRequest.RenewSession: the session has ended since the request arrived: %w", ErrNotFound))
