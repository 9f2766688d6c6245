// Package realms finds two Auths of one application that accept each other's sessions.
package realms

import (
	"crypto/sha256"
	"log/slog"
	"reflect"
	"sync"
	"weak"
)

// Auth is what a realm needs to know about an Auth.
type Auth struct {
	// Realm identifies the Auths that decrypt each other's session cookies; see [Of].
	Realm [sha256.Size]byte
	// Encrypted reports that sessions are in encrypted cookies. Otherwise they are in Store.
	Encrypted bool
	Store     any // nil if there is none
	// Site identifies the addresses that the Auth serves.
	Site   string
	Logger *slog.Logger
}

// Of returns the realm of Auths with a secret, an audience and a name of the session cookie.
func Of(secret, audience, cookie string) [sha256.Size]byte {
	return sha256.Sum256([]byte(secret + "\x00" + audience + "\x00" + cookie))
}

// Accepts reports whether a accepts the sessions of another Auth of its realm.
func (a *Auth) Accepts(other *Auth) bool {
	return a.Encrypted || a.Store != nil && sameStore(a.Store, other.Store)
}

// replaces reports whether a serves the same users as another Auth, for example after a change of the configuration.
func (a *Auth) replaces(other *Auth) bool {
	return a.Site == other.Site && sameStore(a.Store, other.Store)
}

// sameStore reports whether two stores are identical. Stores that Go cannot compare count as different.
func sameStore(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// Newest has the newest Auth of each realm, as long as the application uses it. The zero value is empty. It is safe for
// concurrent use.
type Newest struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]weak.Pointer[Auth]
}

// maxRealms is the maximum number of realms. If there are more, all are forgotten.
const maxRealms = 1024

// Add stores an Auth. It reports whether the previous one of the realm is still in use, has the same logger, serves
// another site, and has sessions that a accepts.
func (n *Newest) Add(a *Auth) (shared bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	previous := n.all[a.Realm].Value()
	if n.all == nil || len(n.all) >= maxRealms {
		n.all = map[[sha256.Size]byte]weak.Pointer[Auth]{}
	}
	n.all[a.Realm] = weak.Make(a)
	return previous != nil && previous.Logger == a.Logger && !a.replaces(previous) && a.Accepts(previous)
}
