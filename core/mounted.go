package core

import "sync/atomic"

// mounted detects that an application has guards and no auth routes: a browser that a guard redirects to the built-in
// sign-in page requests that page next.
type mounted struct {
	// registered: an adapter has mounted the routes with MountPath. served: one of them was requested.
	registered, served atomic.Bool
	sent               atomic.Int32
}

// enoughSent is the number of redirects to the sign-in page without one request for it, after which even routes that
// were mounted count as missing. Each user may have closed the window.
const enoughSent = 3

func (m *mounted) serves() {
	if !m.served.Load() {
		m.served.Store(true)
	}
}

func (m *mounted) register() {
	if !m.registered.Load() {
		m.registered.Store(true)
	}
}

// misses counts a redirect to the sign-in page. It reports, once, that the routes are missing: at the first redirect if
// no adapter has mounted them.
func (m *mounted) misses() bool {
	if m.served.Load() {
		return false
	}
	count := m.sent.Add(1)
	if m.registered.Load() {
		return count == enoughSent
	}
	return count == 1
}
