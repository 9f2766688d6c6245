package core

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

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
