// Package batch is for stores whose engine answers several calls in one round trip for little more than the price of
// one. Calls that come at the same time ask together: with more visitors at once there is more in a round trip, and
// there are not many more of them. No call waits for others that have not come.
package batch

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
)

// Most is how many calls ask together at most: it keeps small what one round trip carries, and what fails with it.
const Most = 16

// Calls runs calls that change nothing, as one may fail with another. A call is a T, which holds what is asked for and
// takes the answer. It belongs to Calls until its Do returns, and for ever where that returns because ctx has ended. It
// is safe for concurrent use; make it with [New].
type Calls[T any] struct {
	lanes    int
	alone    func(ctx context.Context, call T) error
	together func(ctx context.Context, calls []T) error
	yield    func()

	mu    sync.Mutex
	taken int         // lanes
	open  *group[T]   // has a lane, and is about to ask
	queue []*group[T] // wait for a lane
	spare *group[T]   // nil, or one that no call knows, to open next
}

// group is calls that ask together.
type group[T any] struct {
	first context.Context // of the call that came first
	calls []T
	room  [1]T               // of calls, while there is one
	stay  int                // how many have not left
	end   context.CancelFunc // ends what asks for them; nil before
	done  chan struct{}      // closed when the rest is known; nil while the call that came first is alone

	turn     bool // it waited for a lane, which is now its only call's
	err      error
	panicked any // what a panic was called with
}

// New returns Calls. A call that comes while no other does asks by itself, as alone does it; calls that come at the
// same time ask as together does it. An error of it is one of all these calls; what concerns one of them it writes
// there. At most so many of both ask at once as there are lanes, one at least: who comes then waits for the first to be
// answered, and asks with all who wait.
func New[T any](
	lanes int, alone func(ctx context.Context, call T) error, together func(ctx context.Context, calls []T) error,
) *Calls[T] {
	return &Calls[T]{lanes: max(1, lanes), alone: alone, together: together, yield: runtime.Gosched}
}

// Do runs a call, and returns when it is answered or ctx has ended. What asks for several calls goes on when one of
// their contexts ends, until the last has; its context has the values of the call that came first. Every call sees what
// was done before its Do.
func (c *Calls[T]) Do(ctx context.Context, call T) error {
	g, opened := c.join(ctx, call)
	if opened {
		c.yield() // whoever is ready to ask runs, and joins
	}
	if !opened || !c.start(g) {
		select {
		case <-g.done:
		case <-ctx.Done():
			c.leave(g)
			return ctx.Err()
		}
		if g.panicked != nil {
			panic(g.panicked) // to whoever would have it from a call alone
		}
		if !g.turn {
			return g.err
		}
	}
	defer c.free()
	return c.alone(ctx, call)
}

// join adds a call to the group that is about to ask. Where there is none it opens one on a free lane, or has the call
// wait for a lane with others.
func (c *Calls[T]) join(ctx context.Context, call T) (g *group[T], opened bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.queue)
	switch {
	case c.open.hasRoom():
		g = c.open
	case c.taken < c.lanes:
		c.taken++
		if g, c.spare = c.spare, nil; g == nil {
			g = &group[T]{}
		}
		g.first, g.calls = ctx, g.room[:0]
		c.open, opened = g, true
	case n > 0 && c.queue[n-1].hasRoom():
		g = c.queue[n-1]
	default:
		g = &group[T]{first: ctx}
		c.queue = append(c.queue, g)
	}
	if g.done == nil && !opened {
		g.done = make(chan struct{})
	}
	g.calls = append(g.calls, call)
	g.stay++
	return g, opened
}

func (g *group[T]) hasRoom() bool { return g != nil && len(g.calls) < Most }

// start begins what an open group asks for, or reports that its call is alone.
func (c *Calls[T]) start(g *group[T]) (alone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == g {
		c.open = nil
	}
	if len(g.calls) == 1 {
		*g = group[T]{}
		c.spare = g
		return true
	}
	c.begin(g)
	return false
}

// leave is for a call that waits no longer. Nothing is asked for when all have left.
func (c *Calls[T]) leave(g *group[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g.stay--
	switch {
	case g.stay > 0:
	case g.turn:
		c.pass()
	case g.end != nil:
		g.end()
	default:
		c.queue = slices.DeleteFunc(c.queue, func(other *group[T]) bool { return other == g })
	}
}

// free is called with a lane that is taken no longer.
func (c *Calls[T]) free() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pass()
}

// pass hands a lane to the group that has waited longest, which nobody joins from then on. The lock is held.
func (c *Calls[T]) pass() {
	if len(c.queue) == 0 {
		c.taken--
		return
	}
	g := c.queue[0]
	c.queue = slices.Delete(c.queue, 0, 1)
	if g.turn = len(g.calls) == 1; g.turn {
		close(g.done)
		return
	}
	c.begin(g)
}

// begin has several calls ask, on a goroutine of their own: each of them may leave. The lock is held.
func (c *Calls[T]) begin(g *group[T]) {
	ctx, end := context.WithCancel(context.WithoutCancel(g.first)) //nolint:gosec // ask calls it, or leave
	g.end = end
	go c.ask(ctx, g)
}

func (c *Calls[T]) ask(ctx context.Context, g *group[T]) {
	defer c.free()
	defer g.end()
	defer close(g.done)
	defer func() { g.panicked = recover() }()
	g.err = errLeft
	g.err = c.together(ctx, g.calls)
}

// errLeft is of calls that neither return nor panic: a test may have ended their goroutine.
var errLeft = errors.New("what asked for the calls has not returned")
