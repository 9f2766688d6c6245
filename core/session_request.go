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

	"github.com/latchkey-go/latchkey/core/internal/cookie"
	"github.com/latchkey-go/latchkey/core/store"
)

// presented is the session that a request presents: how its cookie reads, and what that is. It is found out on first
// use, once, so that all that is done with the request means the same session; linking asks [presented.again] whether
// it still is one. It serves one goroutine.
type presented struct {
	*strategies
	at *arrival

	joined  bool // the cookie has been read
	settled bool // of several readings the good one is in front

	cookieOnly bool   // a header does not count
	borne      bool   // it is presented in a header
	arrived    uint64 // the last replacement when the request arrived, see replacements
	nobody     bool   // it was read, and there is none

	opened   bool // claims or closed is known
	checked  bool // ended is known
	lookedUp bool // record and user, or missing, are known

	read    cookie.Joined // how the cookie reads, see presented.cookie
	renewed string        // the token that takes the place of one in a header

	claims *Token
	closed error // why there are no claims
	ended  error // why the claims are not good any more

	record  *store.Session
	user    *User
	missing error // why there is no record
}

// strategies are the two ways to keep a session; config says which of them is used.
type strategies struct {
	config   SessionConfig
	jwt      jwtSessions
	rows     storedSessions
	replaced *replacements
}

// present is the session of a request. Nothing is read yet: many actions never ask.
func (s *strategies) present(v *arrival) presented {
	return presented{strategies: s, at: v, arrived: s.replaced.position()}
}

// cookie is how the session cookie reads, joined from its chunks, or a bearer token in its place: who presents one is
// not taken for whom a cookie names, whatever becomes of the token.
func (p *presented) cookie() *cookie.Joined {
	if p.joined {
		return &p.read
	}
	p.joined = true
	if p.at.bearers && !p.cookieOnly {
		var token string
		if token, p.borne, _ = p.at.bearer(); p.borne {
			p.read = cookie.Whole(p.at.cookies.session.name(), token)
			return &p.read
		}
	}
	p.read = cookie.Join(p.at.jar, p.at.cookies.session.name())
	return &p.read
}

// value is the session token presented, empty for none.
func (p *presented) value() string { return p.cookie().Value() }

var errNoSession = errors.New("the session cookie has no value, or its first chunk is missing")

// token returns the claims of the first genuine reading of the session cookie (jwt strategy), good any more or not.
func (p *presented) token(ctx context.Context) (*Token, error) {
	if !p.opened {
		p.claims, p.closed = p.open(ctx)
		p.opened = true
	}
	return p.claims, p.closed
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

// live returns the claims of a session token that is genuine and still good. An error of type ErrSessionToken says
// that it could not be found out.
func (p *presented) live(ctx context.Context) (*Token, error) {
	t, err := p.token(ctx)
	if err != nil {
		return nil, err
	}
	if !p.checked {
		p.ended, p.checked = p.jwt.check(ctx, t), true
	}
	if p.ended != nil {
		return nil, p.ended
	}
	return t, nil
}

// stored returns the record of the session and its user (database strategy). ErrNotFound: there is none, for certain.
func (p *presented) stored(ctx context.Context) (*store.Session, *User, error) {
	if !p.lookedUp {
		p.record, p.user, p.missing = p.rows.find(ctx, p.value())
		p.lookedUp = true
	}
	return p.record, p.user, p.missing
}

// again has the session that was found asked about once more: it may have ended since, by a callback of the application
// or while a provider let the request wait. The reading of the cookie stays the same.
func (p *presented) again() { p.checked, p.lookedUp = false, false }

// settle chooses among the readings of the session cookie, where there are several, the first that is a good session.
// Without it, a neighbouring subdomain that plants cookies of our name signs visitors out, or has one session checked
// and another used. An ordinary request has one reading and costs nothing here. An error means that the store failed.
func (p *presented) settle(ctx context.Context) error {
	if p.settled || !p.cookie().Several() {
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
	p.settled = true
	return nil
}

// try reports whether a reading of the session cookie is a session that goes on, and keeps it if it is.
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
			p.claims, p.opened, p.checked = token, true, true
		}
		return err == nil, nil
	}
	record, user, err := p.rows.find(ctx, value)
	switch {
	case errors.Is(err, ErrNotFound):
		return false, nil
	case err == nil:
		p.record, p.user, p.lookedUp = record, user, true
	}
	return err == nil, err
}

// visitor names the session for as long as it lasts, whatever its token becomes; empty: there is none. Under the
// database strategy it is not looked up.
func (p *presented) visitor(ctx context.Context) (string, error) {
	if p.value() == "" || p.config.Strategy != StrategyJWT {
		return p.value(), nil
	}
	token, err := p.token(ctx) // it is issued anew at every read, its subject stays
	if err != nil {
		return "", nil //nolint:nilerr // a session that cannot be read is none
	}
	return token.Subject, nil
}

// set returns the cookies that hold a session token: one, or numbered chunks. Chunks that the request carried and the
// new value does not use are cleared. A client with a bearer token gets no cookie: see renewedField.
func (p *presented) set(value string, expires time.Time) ([]Cookie, error) {
	now := p.cookie()
	if p.borne {
		if value != now.Value() {
			p.renewed = value
		}
		return nil, nil
	}
	spec, limit := &p.at.cookies.session, p.at.r.HeaderLimit
	if limit == 0 && now.One(value) { // nearly always
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

// clear returns the cookies that end the session in the browser.
func (p *presented) clear() []Cookie {
	var out []Cookie
	for _, name := range p.cookie().Present() {
		out = append(out, p.at.cookies.session.clear(name))
	}
	return out
}

// otherHeaders is what a browser sends besides a session: its own header fields and the cookies of sign-ins under way.
const otherHeaders = 2500

// headerLimitError is a session that the router would not read again: its visitor would be answered 431 until they
// delete the cookie.
type headerLimitError struct{ size, limit int }

func (e *headerLimitError) Error() string {
	return fmt.Sprintf("the session cookie has %d bytes, and the router reads %d bytes of a request's header: "+
		"set its limit (ReadBufferSize of fiber.Config) to 16384 or more, or keep less in the session", e.size, e.limit)
}

// noteMalformed logs why a request with an Authorization header of ours presents no session.
func (p *presented) noteMalformed(ctx context.Context) {
	if _, _, err := p.at.bearer(); p.borne && err != nil {
		p.at.log.failure(ctx, &Error{Type: ErrJWTSession, Cause: mistake(err)}, p.at.attrs()...)
	}
}

// replacement is what a response of this process did to the session token that its request had presented. A higher one
// outweighs a lower one.
type replacement int

const (
	tokenRenewed  replacement = iota + 1 // the same session continues with a later token
	tokenUpdated                         // so it does, with other claims
	sessionOver                          // signed out
	tokenReplaced                        // another session has taken its place, or the same one with another ID
)

const (
	// replacedFor is how long a replacement is remembered: longer than a request lasts.
	replacedFor = 5 * time.Minute
	// maxReplaced bounds how many are remembered.
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
	oldest  []uint64 // keys of entries, by time
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

// note remembers a replacement and returns its number.
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

// noteReplaced remembers that the response to this request replaces the session token that it presented.
func (p *presented) noteReplaced(by replacement) {
	if value := p.value(); value != "" {
		p.arrived = p.replaced.note(value, by)
	}
}

// mayRenew reports whether the response to this request may set a cookie derived from the presented session token.
// updates is true if the request changes the session, which outweighs a renewal or an earlier change.
func (p *presented) mayRenew(updates bool) bool {
	by, since := p.replaced.of(p.value(), p.arrived)
	switch {
	case by == 0, p.borne && by != sessionOver: // a client with a bearer token keeps it itself
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

// clearEnded returns the cookies that clear a session that has ended, none if the browser has another one by now.
func (p *presented) clearEnded() []Cookie {
	if by, since := p.replaced.of(p.value(), p.arrived); since || by == tokenReplaced || by == tokenUpdated {
		return nil
	}
	return p.clear()
}

// outdatedForm reports whether the session cookie is to be written again although the session is the same: it is sealed
// with an earlier secret, or in other chunks than its value needs.
func (p *presented) outdatedForm() bool {
	if p.borne {
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
