// Package deadline bounds calls by time that hardly ever wait. A context of the standard library starts a timer, and
// enrols with its parent, before anybody has asked when it ends; one of this package does both when somebody asks for
// its channel. What only asks whether it has ended, or until when it lasts, gets the answer from the clock.
package deadline

import (
	"context"
	"sync"
	"time"
)

// now is the clock of the timer that ends a context for which somebody waits.
var now = time.Now //nolint:forbidigo // a timer and what is asked instead of it go by one clock

// Context ends when its time is over, with its parent, or by [Context.End]. It is safe for concurrent use, keeps the
// rules of [context.Context], and children of it need no goroutine to watch it.
type Context struct {
	parent context.Context
	at     time.Time

	mu      sync.Mutex
	watched context.Context    // of the standard library; nil until somebody needs it
	stop    context.CancelFunc // of watched
	ended   bool
}

// After returns a context that ends after a time, or when its parent does. The caller ends it when the call is over.
func After(parent context.Context, limit time.Duration) *Context {
	return &Context{parent: parent, at: now().Add(limit)}
}

// End ends the context, as the function does that [context.WithTimeout] returns.
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

// Done implements [context.Context]. From the first call on there is a timer.
func (c *Context) Done() <-chan struct{} { return c.watch().Done() }

// Err implements [context.Context].
func (c *Context) Err() error {
	c.mu.Lock()
	lasts := c.watched == nil && !c.ended && now().Before(c.at)
	c.mu.Unlock()
	if lasts && c.parent.Err() == nil {
		return nil
	}
	return c.watch().Err() // which stays what it is now
}

// Value implements [context.Context]. The watched context tells the standard library, which asks every context by a key
// of its own, that it is what children enrol with.
func (c *Context) Value(key any) any {
	c.mu.Lock()
	of := c.watched
	c.mu.Unlock()
	if of == nil {
		of = c.parent
	}
	return of.Value(key)
}

// watch is a context of the standard library that ends as this one does.
func (c *Context) watch() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.watched != nil:
	case c.ended: // whatever has become of the parent since
		c.watched, c.stop = context.WithCancel(context.WithoutCancel(c.parent))
		c.stop()
	default:
		c.watched, c.stop = context.WithDeadline(c.parent, c.at)
	}
	return c.watched
}

// Series is the context of calls that follow one another, each with a limit of its own. A call that begins when hardly
// any of the limit is gone has the rest of it: they share a timer and what enrols with it. What a slow call took is not
// taken from the next. A Series is its parent, and ends with it; it serves one goroutine.
type Series struct {
	context.Context
	shared context.Context
	end    context.CancelFunc // of shared; nil: there was no call yet
	limit  time.Duration
	until  time.Time // a call that begins later has a limit anew
}

// InSeries returns a Series, which the caller ends when the last call is over.
func InSeries(parent context.Context) *Series { return &Series{Context: parent} }

// Call is the context of the next call: it lasts as long as the limit, or a tenth less.
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
