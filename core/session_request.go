package core

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/cookie"
)

// presented is the session of a request, from its cookie or bearer token. It is looked up once, on first use, so that
// the whole request acts on the same session. Account linking calls [presented.again] to check that it is still valid.
// It is not safe for concurrent use.
type presented struct {
	*strategies
	at *arrival

	cookieRead bool // read is set
	chosen     bool // read prefers the candidate that is a valid session

	cookieOnly bool   // ignore the Authorization header
	fromHeader bool   // the session is from the Authorization header
	position   uint64 // replacements.position when the request arrived
	noSession  bool   // the lookup found no session

	tokenRead  bool // claims and closed are set
	checked    bool // ended is set
	recordRead bool // record, user and missing are set

	candidates cookie.Joined // the cookie's possible values, see presented.cookie
	renewed    string        // the new token for a client with a bearer token

	claims   *Token
	tokenErr error // why claims is nil
	endedErr error // why the claims are not valid any more

	record    *store.Session
	user      *User
	recordErr error // why record is nil
}

// strategies has the session code of both strategies. config selects one of them.
type strategies struct {
	config   SessionConfig
	jwt      jwtSessions
	rows     storedSessions
	replaced *replacements
}

// present returns the session of a request. It reads nothing yet: many actions never need the session.
func (s *strategies) present(v *arrival) presented {
	return presented{strategies: s, at: v, position: s.replaced.position()}
}

// cookie returns the session cookie, joined from its chunks. If the request has a bearer token, it returns that token
// and ignores the cookie, even if the token is invalid: a client with a bearer token must never act as the user of a
// cookie.
func (p *presented) cookie() *cookie.Joined {
	if p.cookieRead {
		return &p.candidates
	}
	p.cookieRead = true
	if p.at.bearers && !p.cookieOnly {
		var token string
		if token, p.fromHeader, _ = p.at.bearer(); p.fromHeader {
			p.candidates = cookie.Whole(p.at.cookies.session.name(), token)
			return &p.candidates
		}
	}
	p.candidates = cookie.Join(p.at.jar, p.at.cookies.session.name())
	return &p.candidates
}

// value returns the session token of the request. It is empty if there is none.
func (p *presented) value() string { return p.cookie().Value() }

var errNoSession = errors.New("the session cookie has no value, or its first chunk is missing")

// token returns the claims of the first candidate that can be decrypted (StrategyJWT). The session may have ended.
func (p *presented) token(ctx context.Context) (*Token, error) {
	if !p.tokenRead {
		p.claims, p.tokenErr = p.open(ctx)
		p.tokenRead = true
	}
	return p.claims, p.tokenErr
}

func (p *presented) open(ctx context.Context) (token *Token, err error) {
	if p.value() == "" {
		return nil, errNoSession
	}
	for value := range p.cookie().Values() {
		t, openErr := p.jwt.decode(ctx, p.at.cookies, value)
		if openErr == nil {
			return t, nil
		}
		if err == nil || errors.Is(openErr, ErrSessionToken) {
			err = openErr
		}
	}
	return nil, err
}

// live returns the claims of a session token that is valid and not revoked. An error of type ErrSessionToken means that
// this is unknown.
func (p *presented) live(ctx context.Context) (*Token, error) {
	t, err := p.token(ctx)
	if err != nil {
		return nil, err
	}
	if !p.checked {
		p.endedErr, p.checked = p.jwt.check(ctx, t), true
	}
	if p.endedErr != nil {
		return nil, p.endedErr
	}
	return t, nil
}

// stored returns the record of the session and its user (StrategyDatabase). ErrNotFound means that there is no session.
func (p *presented) stored(ctx context.Context) (*store.Session, *User, error) {
	if !p.recordRead {
		p.record, p.user, p.recordErr = p.rows.find(ctx, p.value())
		p.recordRead = true
	}
	return p.record, p.user, p.recordErr
}

// again makes the next use look up the session again. The session may have ended since, in a callback of the
// application or while the request waited for a provider. The chosen cookie value stays the same.
func (p *presented) again() { p.checked, p.recordRead = false, false }

// settle selects a valid session if the request has several session cookies. Without it, a sibling subdomain that
// plants cookies of our name could sign users out, or could make one session be checked and another one be used. Most
// requests have a single candidate and no cost here. An error means that the store failed.
func (p *presented) settle(ctx context.Context) error {
	if p.chosen || !p.cookie().Several() {
		return nil
	}
	candidates := slices.Collect(p.cookie().Values())
	if p.config.Strategy != StrategyJWT {
		if candidates = p.cookie().LookUps(); len(candidates) == 1 {
			return nil
		}
	}
	for _, value := range candidates {
		good, err := p.try(ctx, value)
		if err != nil {
			return asError(err, ErrSessionToken).under(ErrSessionToken)
		}
		if good {
			p.cookie().Prefer(value)
			break
		}
	}
	p.chosen = true
	return nil
}

// try reports whether a cookie value is a valid session, and remembers the session if it is.
func (p *presented) try(ctx context.Context, value string) (bool, error) {
	if p.config.Strategy == StrategyJWT {
		token, err := p.jwt.decode(ctx, p.at.cookies, value)
		if err == nil {
			err = p.jwt.check(ctx, token)
		}
		switch {
		case errors.Is(err, ErrSessionToken):
			return false, err
		case err == nil:
			p.claims, p.tokenRead, p.checked = token, true, true
		}
		return err == nil, nil
	}
	record, user, err := p.rows.find(ctx, value)
	switch {
	case errors.Is(err, ErrNotFound):
		return false, nil
	case err == nil:
		p.record, p.user, p.recordRead = record, user, true
	}
	return err == nil, err
}

// visitor returns a text that identifies the session or its user across token renewals: the subject under StrategyJWT,
// the token under StrategyDatabase, without a lookup. It is empty if there is no session.
func (p *presented) visitor(ctx context.Context) (string, error) {
	if p.value() == "" || p.config.Strategy != StrategyJWT {
		return p.value(), nil
	}
	token, err := p.token(ctx) // the token changes with each read, its subject does not
	if err != nil {
		return "", nil //nolint:nilerr // a token that cannot be read is no session
	}
	return token.Subject, nil
}

// set returns the cookies for a session token: one cookie, or numbered chunks. It clears chunks of the request that the
// new value does not use. A client with a bearer token gets no cookie but a header field (see renewedField).
func (p *presented) set(value string, expires time.Time) ([]Cookie, error) {
	now := p.cookie()
	if p.fromHeader {
		if value != now.Value() {
			p.renewed = value
		}
		return nil, nil
	}
	spec, limit := &p.at.cookies.session, p.at.r.HeaderLimit
	if limit == 0 && now.One(value) { // the usual case
		return []Cookie{spec.setUntil(value, expires)}, nil
	}
	chunks, err := now.Replace(value)
	if err != nil {
		return nil, err
	}
	if limit > 0 && len(value)+len(chunks)*len(spec.name()) > limit-otherHeaders {
		return nil, &headerLimitError{len(value), limit}
	}
	out := make([]Cookie, 0, len(chunks))
	for _, chunk := range chunks {
		if chunk.Clear {
			out = append(out, spec.clear(chunk.Name))
			continue
		}
		c := spec.setUntil(chunk.Value, expires)
		c.Name = chunk.Name
		out = append(out, c)
	}
	return out, nil
}

// clear returns the cookies that remove the session from the browser.
func (p *presented) clear() []Cookie {
	var out []Cookie
	for _, name := range p.cookie().Present() {
		out = append(out, p.at.cookies.session.clear(name))
	}
	return out
}

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

// noteMalformed logs why the request's Authorization header has no bearer token.
func (p *presented) noteMalformed(ctx context.Context) {
	if _, _, err := p.at.bearer(); p.fromHeader && err != nil {
		p.at.log.failure(ctx, &Error{Type: ErrJWTSession, Cause: mistake(err)}, p.at.attrs()...)
	}
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

const (
	// replacedFor is how long a replacement is remembered. It is longer than any request.
	replacedFor = 5 * time.Minute
	// maxReplaced is the maximum number of remembered replacements.
	maxReplaced = 1 << 13
)

// replacements remembers which session tokens the responses of this process have replaced. Without it a slow response
// to an earlier request undoes a later decision: it sets the cookie of a session that the user has signed out of, or
// replaced by another, or it clears the cookie of a session that has just begun.
//
// It is in memory only. Sign-out is final for all processes under StrategyDatabase and with Session.Revocation: there a
// late response can only bring back a cookie that is no longer valid.
type replacements struct {
	now  func() time.Time
	seed maphash.Seed

	last atomic.Uint64 // number of the last replacement

	mu      sync.Mutex
	entries map[uint64]replacedToken
	oldest  []uint64 // keys of entries, oldest first
}

type replacedToken struct {
	by  replacement
	seq uint64
	at  time.Time
}

func newReplacements(now func() time.Time) *replacements {
	return &replacements{now: now, seed: maphash.MakeSeed(), entries: map[uint64]replacedToken{}}
}

// position returns the number of the last replacement, to compare later ones with.
func (r *replacements) position() uint64 { return r.last.Load() }

// note records a replacement and returns its number.
func (r *replacements) note(token string, by replacement) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	seq := r.last.Add(1)
	key, now := maphash.String(r.seed, token), r.now()
	before, known := r.entries[key]
	if !known {
		r.oldest = append(r.oldest, key)
	}
	r.entries[key] = replacedToken{by: max(by, before.by), seq: seq, at: now}
	for len(r.oldest) > maxReplaced || len(r.oldest) > 0 && now.Sub(r.entries[r.oldest[0]].at) >= replacedFor {
		delete(r.entries, r.oldest[0])
		r.oldest = r.oldest[1:]
	}
	return seq
}

// of returns how a token was replaced, zero if it was not, and whether that happened after the position.
func (r *replacements) of(token string, position uint64) (by replacement, since bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry, known := r.entries[maphash.String(r.seed, token)]
	if !known || r.now().Sub(entry.at) >= replacedFor {
		return 0, false
	}
	return entry.by, entry.seq > position
}

// noteReplaced records that the response to this request replaces the session token of the request.
func (p *presented) noteReplaced(by replacement) {
	if value := p.value(); value != "" {
		p.position = p.replaced.note(value, by)
	}
}

// mayRenew reports whether the response to this request may set a cookie derived from the presented session token.
// updates is true if the request changes the session, which outweighs a renewal or an earlier change.
func (p *presented) mayRenew(updates bool) bool {
	by, since := p.replaced.of(p.value(), p.position)
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

// clearEnded returns the cookies that clear an ended session. It returns none if the browser has a newer session.
func (p *presented) clearEnded() []Cookie {
	if by, since := p.replaced.of(p.value(), p.position); since || by == tokenReplaced || by == tokenUpdated {
		return nil
	}
	return p.clear()
}

// outdatedForm reports whether the session cookie must be written again although the session is unchanged. This is so
// if it is encrypted with an older secret, or if its chunks are not the ones that its value needs.
func (p *presented) outdatedForm() bool {
	if p.fromHeader {
		return false
	}
	value := p.value()
	if p.config.Strategy == StrategyJWT && p.jwt.config.Decode == nil && !p.at.cookies.session.keys.Current(value) {
		return true
	}
	cookie := p.cookie()
	if cookie.One(value) {
		return false
	}
	chunks, err := cookie.Replace(value)
	if err != nil || len(chunks) != len(cookie.Present()) {
		return err == nil
	}
	for _, chunk := range chunks {
		if chunk.Clear {
			return true
		}
	}
	return false
}
