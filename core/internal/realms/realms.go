// Package realms remembers the newest value of each key, as long as the application uses it.
package realms

import (
	"crypto/sha256"
	"sync"
	"weak"
)

// Key identifies a realm.
type Key = [sha256.Size]byte

// Newest has the newest value of each realm. The zero value is empty. It is safe for concurrent use.
type Newest[T any] struct {
	mu  sync.Mutex
	all map[Key]weak.Pointer[T]
}

// maxRealms is the maximum number of realms. If there are more, all are forgotten.
const maxRealms = 1024

// Replace stores a value and returns the previous one of the realm, or nil.
func (n *Newest[T]) Replace(key Key, value *T) (previous *T) {
	n.mu.Lock()
	defer n.mu.Unlock()
	previous = n.all[key].Value()
	if n.all == nil || len(n.all) >= maxRealms {
		n.all = map[Key]weak.Pointer[T]{}
	}
	n.all[key] = weak.Make(value)
	return previous
}
