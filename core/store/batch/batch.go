// Package batch is for stores whose engine answers several calls in one round trip for little more than the price of
// one. Calls that would have to wait for each other ask together: with more visitors at once there is more in a round
// trip, and there are not more of them. A call that need not wait is not held back for others.
package batch

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// most is how many calls ask together at most: it keeps small what one round trip carries, and what fails with it.
const most = 64

// Calls runs calls that change nothing: they may fail with each other. A call is a T, which holds what is asked for and
// takes the answer; it is read and written by [Calls] until its Do returns, and for longer when that returned early. It
// is safe for concurrent use; make it with [New].
type Calls[T any] struct {
	lanes    int
	alone    func(ctx context.Context, call T) error
	together func(ctx context.Context, calls []T) error

	mu    sync.Mutex
	taken int // lanes
	queue []*group[T]
}

// group is calls that wait for a lane, and then ask together.
type group[T any] struct {
	ctx   context.Context // of the call that came first, but it lasts as long as somebody waits
	end   context.CancelFunc
	calls []T
	stay  int           // how many still wait
	done  chan struct{} // closed when the rest is known

	err      error
	panicked any // what a panic was called with
}

// New returns Calls. As many as there are lanes (1 at least) ask the engine at the same time, each by itself as alone
// does it. Those that come in the meantime wait for the first of these to be answered, and ask as together does it: an
// error of it is one of all these calls, what concerns one of them it writes there.
func New[T any](
	lanes int, alone func(ctx context.Context, call T) error, together func(ctx context.Context, calls []T) error,
) *Calls[T] {
	return &Calls[T]{lanes: max(1, lanes), alone: alone, together: together}
}

// Do runs a call, and returns when it is answered or ctx has ended. What asks for several calls goes on when one of
// their contexts ends, until the last has; its context has the values of the call that came first. Every call sees what
// was done before its Do.
func (c *Calls[T]) Do(ctx context.Context, call T) error {
	g := c.join(ctx, call)
	if g == nil {
		defer c.pass()
		return c.alone(ctx, call)
	}
	select {
	case <-g.done:
		if g.panicked != nil {
			panic(g.panicked) // to whoever would have it from a call alone
		}
		return g.err
	case <-ctx.Done():
		c.leave(g)
		return ctx.Err()
	}
}

// join takes a lane, and returns nil, or has the call wait for one.
func (c *Calls[T]) join(ctx context.Context, call T) *group[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken < c.lanes {
		c.taken++
		return nil
	}
	n := len(c.queue)
	if n == 0 || len(c.queue[n-1].calls) == most {
		g := &group[T]{done: make(chan struct{})}
		g.ctx, g.end = context.WithCancel(context.WithoutCancel(ctx)) //nolint:gosec // ask and leave call end
		c.queue = append(c.queue, g)
		n++
	}
	g := c.queue[n-1]
	g.calls = append(g.calls, call)
	g.stay++
	return g
}

// leave is for a call that waits no longer. Nothing is asked for when all have left.
func (c *Calls[T]) leave(g *group[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g.stay--; g.stay == 0 {
		g.end()
		c.queue = slices.DeleteFunc(c.queue, func(other *group[T]) bool { return other == g })
	}
}

// pass hands on a lane, to a goroutine of its own: this one may be a visitor's, who does not wait for others.
func (c *Calls[T]) pass() {
	if g := c.next(); g != nil {
		go c.ask(g)
	}
}

// next is the group that has waited longest, which nobody joins from then on; nil: nobody waits, and the lane is free.
func (c *Calls[T]) next() *group[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		c.taken--
		return nil
	}
	g := c.queue[0]
	c.queue = slices.Delete(c.queue, 0, 1)
	return g
}

func (c *Calls[T]) ask(g *group[T]) {
	defer c.pass()
	defer g.end()
	defer close(g.done)
	defer func() { g.panicked = recover() }()
	g.err = errLeft
	if len(g.calls) == 1 {
		g.err = c.alone(g.ctx, g.calls[0])
		return
	}
	g.err = c.together(g.ctx, g.calls)
}

// errLeft is of calls that neither return nor panic: a test may have ended their goroutine.
var errLeft = errors.New("what asked for the calls has not returned")
