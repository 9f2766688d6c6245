// Package mounts detects that an application has guards but no auth routes.
package mounts

import "sync/atomic"

// State is what is known about the routes of an Auth. A browser that a guard redirects to the built-in sign-in page
// requests that page next; if it does not, the routes are probably missing.
type State struct {
	// registered reports whether an adapter mounted the routes, and served whether an auth route was requested.
	registered, served atomic.Bool
	sent               atomic.Int32 // redirects to the sign-in page
}

// enoughSent is the number of redirects to the sign-in page without a request for it, after which mounted routes count
// as missing too. With fewer, the users may have closed their windows.
const enoughSent = 3

// Serve notes a request for an auth route.
func (s *State) Serve() { set(&s.served) }

// Register notes that an adapter has mounted the routes.
func (s *State) Register() { set(&s.registered) }

// set writes only once: requests share the memory.
func set(b *atomic.Bool) {
	if !b.Load() {
		b.Store(true)
	}
}

// Registered reports whether an adapter has mounted the routes.
func (s *State) Registered() bool { return s.registered.Load() }

// Redirect counts a redirect to the sign-in page. It reports, once, that the routes seem to be missing: at the first
// redirect if no adapter has mounted them, else at redirect enoughSent.
func (s *State) Redirect() (missing bool) {
	if s.served.Load() {
		return false
	}
	count := s.sent.Add(1)
	if s.registered.Load() {
		return count == enoughSent
	}
	return count == 1
}
