// Package supersede remembers which tokens the responses of this process have replaced. Without it a slow response to
// an earlier request undoes a later decision: it sets the cookie of a session that the user has signed out of, or
// replaced by another, or it clears the cookie of a session that has just begun.
//
// It is in memory only. Sign-out is final for all processes if sessions are stored or revoked: there a late response
// can only bring back a cookie that is no longer valid.
package supersede

import (
	"cmp"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// keptFor is how long a replacement is remembered. It is longer than any request.
	keptFor = 5 * time.Minute
	// maxKept is the maximum number of remembered replacements.
	maxKept = 1 << 13
)

// Memory remembers replaced tokens for five minutes, at most 8,192 of them. R says how a token was replaced; a higher
// value takes precedence over a lower one. It is safe for concurrent use.
type Memory[R cmp.Ordered] struct {
	now  func() time.Time
	seed maphash.Seed

	last atomic.Uint64 // number of the last replacement

	mu      sync.Mutex
	entries map[uint64]entry[R]
	oldest  []uint64 // keys of entries, oldest first
}

type entry[R cmp.Ordered] struct {
	by  R
	seq uint64
	at  time.Time
}

// New returns an empty Memory with a clock.
func New[R cmp.Ordered](now func() time.Time) *Memory[R] {
	return &Memory[R]{now: now, seed: maphash.MakeSeed(), entries: map[uint64]entry[R]{}}
}

// Position returns the number of the last replacement. Later replacements have higher numbers.
func (m *Memory[R]) Position() uint64 { return m.last.Load() }

// Note records a replacement and returns its number.
func (m *Memory[R]) Note(token string, by R) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	seq := m.last.Add(1)
	key, now := maphash.String(m.seed, token), m.now()
	before, known := m.entries[key]
	if !known {
		m.oldest = append(m.oldest, key)
	}
	m.entries[key] = entry[R]{by: max(by, before.by), seq: seq, at: now}
	for len(m.oldest) > maxKept || len(m.oldest) > 0 && now.Sub(m.entries[m.oldest[0]].at) >= keptFor {
		delete(m.entries, m.oldest[0])
		m.oldest = m.oldest[1:]
	}
	return seq
}

// Of returns how a token was replaced, zero if it was not, and whether that happened after the position.
func (m *Memory[R]) Of(token string, position uint64) (by R, since bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, known := m.entries[maphash.String(m.seed, token)]
	if !known || m.now().Sub(e.at) >= keptFor {
		return by, false
	}
	return e.by, e.seq > position
}

// Forget removes what is remembered about a token, because a response sets it again.
func (m *Memory[R]) Forget(token string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, maphash.String(m.seed, token))
}
