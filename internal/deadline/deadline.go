// Package deadline provides timeouts for calls that rarely block. A context of the standard library starts a timer and
// registers with its parent when it is created. A context of this package does so only when its Done channel is
// requested; Err and Deadline use only the clock.
package deadline

import (
	"context"
	"sync"
	"time"
)

// now is the clock that also controls the timer.
var now = time.Now //nolint:forbidigo // timers use the real clock, so the checks without a timer must too

// Context ends after its timeout, with its parent, or by [Context.End]. It is safe for concurrent use, implements
// [context.Context], and its children need no goroutine to watch it.
type Context struct {
	parent context.Context
	at     time.Time

	mu      sync.Mutex
	watched context.Context    // of the standard library; nil until it is needed
	stop    context.CancelFunc // cancels watched
	ended   bool
}

// After returns a context with a timeout. The caller must call End when the call is complete.
func After(parent context.Context, limit time.Duration) *Context {
	return &Context{parent: parent, at: now().Add(limit)}
}

// End ends the context, like the cancel function of [context.WithTimeout].
func (c *Context) End() {
	c.mu.Lock()
	c.ended = true
	stop := c.stop
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// Deadline implements [context.Context].
func (c *Context) Deadline() (time.Time, bool) {
	if sooner, ok := c.parent.Deadline(); ok && sooner.Before(c.at) {
		return sooner, true
	}
	return c.at, true
}

// Done implements [context.Context]. The first call starts a timer.
func (c *Context) Done() <-chan struct{} { return c.watch().Done() }

// Err implements [context.Context].
func (c *Context) Err() error {
	c.mu.Lock()
	lasts := c.watched == nil && !c.ended && now().Before(c.at)
	c.mu.Unlock()
	if lasts && c.parent.Err() == nil {
		return nil
	}
	return c.watch().Err() // the error does not change afterwards
}

// Value implements [context.Context]. The standard library finds cancelable contexts by a private key. For that key,
// Value returns the watched context, so that children register there.
func (c *Context) Value(key any) any {
	c.mu.Lock()
	of := c.watched
	c.mu.Unlock()
	if of == nil {
		of = c.parent
	}
	return of.Value(key)
}

// watch returns a context of the standard library that ends at the same time.
func (c *Context) watch() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.watched != nil:
	case c.ended: // even if the parent has ended since
		c.watched, c.stop = context.WithCancel(context.WithoutCancel(c.parent))
		c.stop()
	default:
		c.watched, c.stop = context.WithDeadline(c.parent, c.at)
	}
	return c.watched
}

// Series is the context of sequential calls, each with the same timeout. A call that starts shortly after the previous
// timeout began shares its timer. The duration of one call does not reduce the timeout of the next. A Series ends with
// its parent. It must be used by one goroutine only.
type Series struct {
	context.Context
	shared context.Context
	end    context.CancelFunc // ends shared; nil before the first call
	limit  time.Duration
	until  time.Time // a call that starts later gets a new timer
}

// InSeries returns a Series. The caller must call End after the last call.
func InSeries(parent context.Context) *Series { return &Series{Context: parent} }

// Call returns the context of the next call. Its timeout is limit, or up to a tenth less.
func (s *Series) Call(limit time.Duration) context.Context {
	begins := now()
	if s.end != nil && s.limit == limit && !begins.After(s.until) {
		return s.shared
	}
	s.End()
	s.limit, s.until = limit, begins.Add(limit/10)
	s.shared, s.end = context.WithTimeout(s.Context, limit)
	return s.shared
}

// End ends the last call's context.
func (s *Series) End() {
	if s.end != nil {
		s.end()
	}
}
