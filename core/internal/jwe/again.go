package jwe

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// OpenAgain is [Keyring.Open] for tokens that come with request after request, as a session's does with every page and
// with what the page asks for: from the third time on a token is not verified and decrypted anew, as long as no other
// one has taken its place. The process remembers 1,024 tokens at most, of all Keyrings together.
func (k *Keyring) OpenAgain(token string) (string, error) { return again.open(k, token) }

var again = newMemory(1024)

// maxRemembered is the longest token, in bytes, that is remembered: what one cookie holds.
const maxRemembered = 4096

// memory remembers what tokens were opened to. That follows from the token and the keys alone, so what is remembered
// is what Open would answer; whether it is still good, the caller asks each time. Each token has one place, by its
// hash, and leaves it to the next one that belongs there.
type memory struct {
	seed   maphash.Seed // which no stranger knows
	places []place
}

// place is where one token is remembered.
type place struct {
	// met is the hash of the token opened last. The second time in a row the token is kept: those that come once, as
	// before a renewal, leave no more than this.
	met  atomic.Uint64
	kept atomic.Pointer[opened]
}

// opened is a token that was opened. Nothing writes to it afterwards.
type opened struct {
	by             uint64 // number of the Keyring
	hash           uint64
	token, payload string
}

func newMemory(places int) *memory { return &memory{maphash.MakeSeed(), make([]place, places)} }

func (m *memory) open(k *Keyring, token string) (string, error) {
	if len(token) > maxRemembered {
		return k.Open(token)
	}
	hash := maphash.String(m.seed, token)
	p := &m.places[hash%uint64(len(m.places))]
	if o := p.kept.Load(); o != nil && o.is(k.number, hash, token) {
		return o.payload, nil
	}
	payload, err := k.Open(token)
	if err == nil && p.met.Swap(hash) == hash {
		// The token may be part of a long header, or of memory that a server uses again.
		p.kept.Store(&opened{k.number, hash, strings.Clone(token), payload})
	}
	return payload, err
}

// is reports whether this is the token, opened by the Keyring of that number. The hashes are compared first, so that
// how long it takes says nothing of a token to those who have only a part of it.
func (o *opened) is(by, hash uint64, token string) bool {
	return o.by == by && o.hash == hash && o.token == token
}
