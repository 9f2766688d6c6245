package core

import "sync/atomic"

// mounted finds out that an application has guards and no auth routes: a visitor whom a guard sends to the built-in
// sign-in page asks for it next.
type mounted struct {
	served atomic.Bool
	sent   atomic.Int32
}

// enoughSent is how many visitors must have been sent to the sign-in page without one request for it: a single one may
// have closed the window.
const enoughSent = 3

func (m *mounted) serves() {
	if !m.served.Load() {
		m.served.Store(true)
	}
}

// misses counts a visitor who is sent to the sign-in page; it reports, once, that none of them arrived.
func (m *mounted) misses() bool { return !m.served.Load() && m.sent.Add(1) == enoughSent }
