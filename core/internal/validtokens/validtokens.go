// Package validtokens remembers hashes of tokens that were valid in this process. Their requests are not counted as
// attempts, so that wrong tokens of a network do not stop its valid ones.
package validtokens

import (
	"crypto/sha256"
	"sync"
)

// Hash is the hash of a token.
type Hash = [sha256.Size]byte

// Memory contains hashes. It says nothing about whether a token is still valid. The zero value is empty. It is safe for
// concurrent use.
type Memory struct {
	mu   sync.Mutex
	seen map[Hash]struct{}
}

// maxHashes is the maximum number of hashes. If there are more, all are forgotten.
const maxHashes = 1 << 14

// Has reports whether the token was valid.
func (m *Memory) Has(hash Hash) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.seen[hash]
	return ok
}

// Note remembers that a token is valid, or forgets one that is not.
func (m *Memory) Note(hash Hash, valid bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !valid {
		delete(m.seen, hash)
		return
	}
	if m.seen == nil || len(m.seen) >= maxHashes {
		m.seen = map[Hash]struct{}{}
	}
	m.seen[hash] = struct{}{}
}
