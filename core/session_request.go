package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/supersede"
)

// requestSession is the session of a request, from its cookie or bearer token. [jwtSession] and [storedSession]
// implement it, and [sessions.of] creates it. The methods can be called in any order. It is not safe for concurrent
// use.
type requestSession interface {
	// carrier returns the cookies or the header field that contain the session token.
	carrier() *tokenCarrier
	// owner returns a text that identifies the session, or its user, across token renewals. It needs no query. It is empty
	// if the request has no session token that can be read.
	owner(ctx context.Context) string
	// actor returns who impersonates the user, as the token says. It needs no query, and the session may have ended.
	actor(ctx context.Context) actor
	// expiredActor returns the actor of an impersonation that has lasted impersonationAge. It needs no query.
	expiredActor() actor
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
	// cookieExpires returns the expiry of the cookie of a session that read has returned.
	cookieExpires(session *Session) time.Time
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
			c.fromHeader, c.cookies = true, cookie.Whole(v.cookies.Session.Name(), token)
		}
	}
	return s.restore(ctx, c)
}

// ofCookies is of for a response that sets cookies even if the request has a bearer token.
func (s *sessions) ofCookies(ctx context.Context, v *arrival) (requestSession, error) {
	return s.restore(ctx, s.carrierOf(v))
}

func (s *sessions) carrierOf(v *arrival) tokenCarrier {
	return tokenCarrier{
		at: v, cookies: cookie.Join(v.jar, v.cookies.Session.Name()), replaced: s.replaced, position: s.replaced.Position(),
		accounts: s,
	}
}

func (s *sessions) choose(ctx context.Context, c tokenCarrier) (requestSession, error) {
	if s.config.Strategy == StrategyJWT {
		p := &jwtSession{sessions: s, tokenCarrier: c}
		return p, p.choose(ctx)
	}
	p := &storedSession{sessions: s, tokenCarrier: c}
	return p, p.choose(ctx)
}

// tokenCarrier is the session token of a request, and its cookies or header field.
type tokenCarrier struct {
	at *arrival
	// cookies are the candidates for the token. With a bearer token they are only that token, even if it is invalid: a
	// client with a bearer token must never act as the user of a cookie.
	cookies    cookie.Joined
	fromHeader bool   // the token is from the Authorization header
	restored   bool   // the token is that of an administrator, after an impersonation
	waits      bool   // an impersonation has expired, and a later request may restore the administrator's session
	renewed    string // the new token for a client with a bearer token

	replaced *supersede.Memory[replacement]
	position uint64 // replaced.position when the request arrived

	keeping  *keeping  // nil until a sign-in asks whether it keeps this session
	accounts *sessions // for the size of the cookies of other accounts; nil if it does not count
}

func (p *tokenCarrier) carrier() *tokenCarrier { return p }

// value returns the session token of the request, valid or not. It is empty if there is none.
func (p *tokenCarrier) value() string { return p.cookies.Value() }

// set returns the cookies for a session token: one cookie, or numbered chunks. It clears chunks of the request that the
// new value does not use. If expires is zero, the browser deletes the cookies when it closes. A client with a bearer
// token gets no cookie but a header field (see renewedField).
func (p *tokenCarrier) set(value string, expires time.Time) ([]Cookie, error) {
	if p.fromHeader {
		if value != p.value() {
			p.renewed = value
		}
		return nil, nil
	}
	spec, limit := &p.at.cookies.Session, p.at.r.HeaderLimit
	if limit == 0 && p.cookies.One(value) && !p.restored { // the usual case
		return []Cookie{Cookie(spec.SetSession(value, expires))}, nil
	}
	chunks, err := p.cookies.Replace(value)
	if err != nil {
		return nil, err
	}
	if limit > 0 && len(value)+len(chunks)*len(spec.Name())+p.accounts.keptBytes(p.at) > limit-otherHeaders {
		return nil, &headerLimitError{len(value), limit}
	}
	out := make([]Cookie, 0, len(chunks))
	for _, chunk := range chunks {
		if chunk.Clear {
			out = append(out, Cookie(spec.ClearName(chunk.Name)))
			continue
		}
		c := Cookie(spec.SetSession(chunk.Value, expires))
		c.Name = chunk.Name
		out = append(out, c)
	}
	if p.restored {
		out = append(out, p.clearActor()...)
	}
	return out, nil
}

// clear returns the cookies that remove the session from the browser.
func (p *tokenCarrier) clear() []Cookie {
	var out []Cookie
	for _, name := range p.cookies.Present() {
		out = append(out, Cookie(p.at.cookies.Session.ClearName(name)))
	}
	return append(out, p.clearActor()...)
}

// clearEnded returns the cookies that clear an ended session. It returns none if the browser has a newer session.
func (p *tokenCarrier) clearEnded() []Cookie {
	by, since := p.replaced.Of(p.value(), p.position)
	if since || by == tokenReplaced || by == tokenUpdated || p.waits {
		return nil
	}
	return p.clear()
}

// outdatedChunks reports whether the cookies of the session are not the ones that its token needs.
func (p *tokenCarrier) outdatedChunks() bool {
	value := p.value()
	if p.fromHeader || p.cookies.One(value) || p.restored {
		return p.restored
	}
	chunks, err := p.cookies.Replace(value)
	if err != nil || len(chunks) != len(p.cookies.Present()) {
		return err == nil
	}
	for _, chunk := range chunks {
		if chunk.Clear {
			return true
		}
	}
	return false
}

// noteReplaced records that the response to this request replaces the session token of the request.
func (p *tokenCarrier) noteReplaced(by replacement) {
	if value := p.value(); value != "" {
		p.position = p.replaced.Note(value, by)
	}
}

// mayRenew reports whether the response to this request may set a cookie derived from the session token of the request.
// updates is true if the request changes the session, which outweighs a renewal or an earlier change.
func (p *tokenCarrier) mayRenew(updates bool) bool {
	by, since := p.replaced.Of(p.value(), p.position)
	switch {
	case by == 0, p.fromHeader && by != sessionOver: // such a client stores its token itself
		return true
	}
	switch by {
	case tokenRenewed:
		return updates || !since
	case tokenUpdated:
		return updates
	}
	return false
}

// Outdated reports whether another response has replaced the session of this request.
func (p *tokenCarrier) Outdated() bool { return !p.mayRenew(false) }

// otherHeaders is the space in bytes for everything else in a request's header: the browser's own fields, and the
// cookies of sign-ins in progress.
const otherHeaders = 2500

// headerLimitError reports a session cookie that the router would refuse to read. The user would get status 431 until
// they delete the cookie.
type headerLimitError struct{ size, limit int }

func (e *headerLimitError) Error() string {
	return fmt.Sprintf("the session cookie has %d bytes, and the router reads %d bytes of a request's header: "+
		"set its limit (ReadBufferSize of fiber.Config) to 16384 or more, or store less in the session", e.size, e.limit)
}

// replacement is how a response of this process changed the session token of its request. A higher value takes
// precedence over a lower one.
type replacement int

const (
	tokenRenewed  replacement = iota + 1 // the same session continues with a newer token
	tokenUpdated                         // the same session continues with other claims
	sessionOver                          // the user signed out
	tokenReplaced                        // another session started, or the session got another ID
)

// jwtSession is the session of a request under StrategyJWT. Its cookie contains the whole session.
type jwtSession struct {
	*sessions
	tokenCarrier

	// claims are those of the request's token, which may have ended. claims and claimsErr are nil until they are first
	// used; see decode.
	claims    *Token
	claimsErr error
}

// choose selects the token of a valid session; see [sessions.of].
func (p *jwtSession) choose(ctx context.Context) error {
	if !p.cookies.Several() {
		return nil
	}
	for _, value := range slices.Collect(p.cookies.Values()) {
		token, err := p.jwt.OpenSession(ctx, p.at.cookies, value)
		if err == nil {
			err = p.jwt.Check(ctx, token)
		}
		switch {
		case errors.Is(err, ErrSessionToken):
			return asError(err, ErrSessionToken).withType(ErrSessionToken)
		case err == nil:
			p.cookies.Prefer(value)
			p.claims = token
			return nil
		}
	}
	return nil
}

// storedSession is the session of a request under StrategyDatabase.
type storedSession struct {
	*sessions
	tokenCarrier

	// found is the session that choose found. It is nil if the request has a single session cookie.
	found *sessionstate.Found
}

// choose selects the token of a session that exists; see [sessions.of].
func (p *storedSession) choose(ctx context.Context) error {
	if !p.cookies.Several() {
		return nil
	}
	candidates := p.cookies.LookUps()
	if len(candidates) == 1 {
		return nil
	}
	for _, value := range candidates {
		found, err := p.rows.Find(ctx, value)
		switch {
		case err == nil:
			p.cookies.Prefer(value)
			p.found = found
			return nil
		case !errors.Is(err, ErrNotFound):
			return asError(err, ErrSessionToken).withType(ErrSessionToken)
		}
	}
	return nil
}

var errSessionChanged = errors.New("core: ActionRequest.Session: the session starts with this response: " +
	"it is available from the next request on")

var errNoSession = errors.New("the session cookie has no value, or its first chunk is missing")

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
	if c.cookies.Stray() { // treated like a token that cannot be read
		c.at.log.failure(ctx, &Error{Type: errJWTSession, Cause: errNoSession}, c.at.attrs()...)
		return nil, c.clearEnded(), nil
	}
	if c.value() != "" {
		return r.read(ctx, why)
	}
	if _, _, malformed := c.at.bearer(); c.fromHeader && malformed != nil {
		c.at.log.failure(ctx, &Error{Type: errJWTSession, Cause: clientError(malformed)}, c.at.attrs()...)
	}
	return nil, nil, nil
}

// reauthentication describes what [ActionRequest.RenewSession] changes in a session.
type reauthentication struct {
	by      string       // the plugin
	methods []amr.Method // the session's methods from now on
	now     bool         // the user has just authenticated again
	acr     string       // the class that a provider has just reported; if it is empty the session keeps its own
	moved   sessionstate.Moved
}

var errEndedMeanwhile = clientError(
	fmt.Errorf("ActionRequest.RenewSession: the session has ended since the request arrived: %w", ErrNotFound))
