package jwe

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// cacheSlots is the number of tokens that the cache of a Keyring can hold.
	cacheSlots = 1024
	// maxCached is the maximum length in bytes of a cached token, which is the size of one cookie.
	maxCached = 4096
)

// OpenAgain is [Keyring.Open] with a cache, for tokens that are in many requests, such as a session token. From its
// third use, a token is not decrypted and verified again while it is in the Keyring's cache. Decryption takes 4 µs, a
// cache hit 0.15 µs, and a session check at most 3 µs.
func (k *Keyring) OpenAgain(token string) (string, error) {
	if len(token) > maxCached {
		return k.Open(token)
	}
	hash, slot := k.recent.slot(token)
	if e := slot.entry.Load(); e != nil && e.is(hash, token) {
		return e.payload, nil
	}
	payload, err := k.Open(token)
	if err == nil && slot.lastHash.Swap(hash) == hash {
		// Clone, because the token may be part of a long header, or of memory that the server reuses.
		slot.entry.Store(&cacheEntry{hash, strings.Clone(token), payload})
	}
	return payload, err
}

// cache contains recently decrypted tokens of one Keyring, one slot for each hash. The result of Open depends only on
// the token, so a cached result is always correct; the caller must still check expiry and revocation. A token replaces
// the previous one in its slot. The slots are allocated at the first use.
type cache struct {
	once  sync.Once
	seed  maphash.Seed // unknown to attackers
	slots []cacheSlot
}

type cacheSlot struct {
	// lastHash is the hash of the slot's last token. A token is cached when it is decrypted twice in a row, so that tokens
	// that are used once are not cached.
	lastHash atomic.Uint64
	entry    atomic.Pointer[cacheEntry]
}

// cacheEntry is a decrypted token. It is read-only.
type cacheEntry struct {
	hash           uint64
	token, payload string
}

// slot returns the hash and the slot of a token.
func (c *cache) slot(token string) (hash uint64, slot *cacheSlot) {
	c.once.Do(func() { c.seed, c.slots = maphash.MakeSeed(), make([]cacheSlot, cacheSlots) })
	hash = maphash.String(c.seed, token)
	return hash, &c.slots[hash%cacheSlots]
}

// is reports whether this is the token. The hashes are compared first, so that the duration reveals nothing to an
// attacker who knows part of a token.
func (e *cacheEntry) is(hash uint64, token string) bool { return e.hash == hash && e.token == token }
