// Package batch coalesces concurrent calls into one query, for stores whose database answers several calls in one round
// trip at little more than the cost of one. The more users there are at the same time, the more calls one round trip
// contains. No call waits for later ones.
package batch

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
)

// Most is the maximum number of calls in a batch. It limits the size of a round trip, and how many calls fail with it.
const Most = 16

// Calls coalesces concurrent read-only calls. The calls must not change anything, because an error of a batch fails all
// its calls. A call is a T, which contains the request and receives the result. It must not be used until its Do
// returns; if Do returns because ctx has ended, it must never be used again. Calls is safe for concurrent use. Create
// it with [New].
type Calls[T any] struct {
	limit   int // maximum number of concurrent database calls
	single  func(ctx context.Context, call T) error
	batched func(ctx context.Context, calls []T) error
	yield   func()

	mu      sync.Mutex
	running int         // database calls in progress, including that of open
	open    *group[T]   // is about to start
	queue   []*group[T] // wait until running is below limit
	spare   *group[T]   // nil, or an unused group for the next call
}

// group is a batch of calls.
type group[T any] struct {
	first context.Context // of the first call
	calls []T
	room  [1]T               // backing array of calls while there is only one
	stay  int                // the number of calls that still wait
	end   context.CancelFunc // cancels the batch; nil before it starts
	done  chan struct{}      // closed when the fields below are set; nil while there is only the first call

	turn     bool // the group may start, and its only call runs as a single call
	err      error
	panicked any // the value of a panic
}

// New returns Calls that makes at most limit concurrent calls to the database; the minimum is 1. If no other call
// arrives at the same time, single runs it. Calls that arrive at the same time form a batch, which batched runs. Calls
// that arrive while limit calls are running wait and form the next batch. An error of batched fails all calls of the
// batch; batched stores an error of one call in that call.
func New[T any](
	limit int, single func(ctx context.Context, call T) error, batched func(ctx context.Context, calls []T) error,
) *Calls[T] {
	return &Calls[T]{limit: max(1, limit), single: single, batched: batched, yield: runtime.Gosched}
}

// Do runs a call and returns when it is complete or ctx has ended. A batch continues until the contexts of all its
// calls have ended; its context has the values of the first call's context. Every call sees the changes made before its
// Do.
func (c *Calls[T]) Do(ctx context.Context, call T) error {
	g, opened := c.join(ctx, call)
	if opened {
		c.yield() // other ready goroutines run, and may join
	}
	if !opened || !c.start(g) {
		select {
		case <-g.done:
		case <-ctx.Done():
			c.leave(g)
			return ctx.Err()
		}
		if g.panicked != nil {
			panic(g.panicked) // as a single call would
		}
		if !g.turn {
			return g.err
		}
	}
	defer c.free()
	return c.single(ctx, call)
}

// join adds a call to the group that is about to start. If there is none and the limit is not reached, it opens a
// group. Otherwise the call joins a waiting group.
func (c *Calls[T]) join(ctx context.Context, call T) (g *group[T], opened bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.queue)
	switch {
	case c.open.hasRoom():
		g = c.open
	case c.running < c.limit:
		c.running++
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

// start starts the batch of an open group, or reports that the group has only one call.
func (c *Calls[T]) start(g *group[T]) (single bool) {
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

// leave removes a call that no longer waits. If no calls are left, the batch is canceled.
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

// free ends a database call.
func (c *Calls[T]) free() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pass()
}

// pass starts the group that has waited longest, which no call joins afterwards. If none waits, it decrements running.
// c.mu must be held.
func (c *Calls[T]) pass() {
	if len(c.queue) == 0 {
		c.running--
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

// begin starts a batch in a new goroutine, because each of its callers may leave. c.mu must be held.
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
	g.err = c.batched(ctx, g.calls)
}

// errLeft is the error of a batch that neither returned nor panicked: a test may have ended its goroutine.
var errLeft = errors.New("the batch did not return")
