// Package tenants has the state of core.PerRequest: the Auths that its function has returned, and the log lines of
// requests without a tenant.
package tenants

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/realms"
)

// maxKnown is the maximum number of Auths that are remembered. Without it, an application that creates an Auth for each
// request would fill the memory.
const maxKnown = 1024

// Known remembers Auths, and the first Auth of each realm. The zero value is empty. It is safe for concurrent use.
type Known struct {
	seen, realms sync.Map
	count        atomic.Int32
}

// Add remembers an Auth unless there are too many. The first time, it reports whether a accepts the sessions of the
// first Auth of the same realm.
func (k *Known) Add(a *realms.Auth) (shared bool) {
	if _, seen := k.seen.Load(a); seen || k.count.Load() >= maxKnown {
		return false
	}
	if _, seen := k.seen.LoadOrStore(a, true); seen {
		return false
	}
	k.count.Add(1)
	first, there := k.realms.LoadOrStore(a.Realm, a)
	return there && a.Accepts(first.(*realms.Auth))
}

// Lines allows ten log lines a minute, for lines that an unauthenticated client can cause. The zero value has allowed
// none. It is safe for concurrent use.
type Lines struct {
	mu    sync.Mutex
	since time.Time
	count int
}

const maxLines = 10

// Allow counts a line, and reports whether it may be logged.
func (l *Lines) Allow(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.since) >= time.Minute || now.Before(l.since) {
		l.since, l.count = now, 0
	}
	l.count++
	return l.count <= maxLines
}
