package jwe

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// OpenAgain is [Keyring.Open] with a cache, for tokens that are in many requests, such as a session token. From its
// third use, a token is not decrypted and verified again while it is in the cache. The cache has 1,024 slots, shared by
// all Keyrings of the process.
func (k *Keyring) OpenAgain(token string) (string, error) { return tokenCache.open(k, token) }

var tokenCache = newCache(1024)

// maxRemembered is the maximum length in bytes of a cached token, which is the size of one cookie.
const maxRemembered = 4096

// cache contains recently decrypted tokens, one slot for each hash. The result of Open depends only on the token and
// the keys, so a cached result is always correct; the caller must still check expiry and revocation. A token replaces
// the previous one in its slot.
type cache struct {
	seed  maphash.Seed // unknown to attackers
	slots []slot
}

type slot struct {
	// lastHash is the hash of the slot's last token. A token is cached when it is decrypted twice in a row, so that tokens
	// that are used once are not cached.
	lastHash atomic.Uint64
	entry    atomic.Pointer[entry]
}

// entry is a decrypted token. It is read-only.
type entry struct {
	by             uint64 // number of the Keyring that decrypted it
	hash           uint64
	token, payload string
}

func newCache(slots int) *cache { return &cache{maphash.MakeSeed(), make([]slot, slots)} }

func (m *cache) open(k *Keyring, token string) (string, error) {
	if len(token) > maxRemembered {
		return k.Open(token)
	}
	hash := maphash.String(m.seed, token)
	p := &m.slots[hash%uint64(len(m.slots))]
	if o := p.entry.Load(); o != nil && o.is(k.number, hash, token) {
		return o.payload, nil
	}
	payload, err := k.Open(token)
	if err == nil && p.lastHash.Swap(hash) == hash {
		// Clone, because the token may be part of a long header, or of memory that the server reuses.
		p.entry.Store(&entry{k.number, hash, strings.Clone(token), payload})
	}
	return payload, err
}

// is reports whether this is the token, decrypted by the Keyring with that number. The hashes are compared first, so
// that the duration reveals nothing to an attacker who knows part of a token.
func (o *entry) is(by, hash uint64, token string) bool {
	return o.by == by && o.hash == hash && o.token == token
}
