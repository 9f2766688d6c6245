// Package flight has one caller ask and all others wait: of any number of callers that want the same thing at the same
// time, one flight brings it to all.
package flight

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// DefaultMax is how many flights a [Group] has in the air whose Max is zero.
const DefaultMax = 1000

var (
	// ErrFull is what callers get when Max flights are in the air and none of them is theirs.
	ErrFull = errors.New("too many requests are under way")
	// ErrAbandoned is the cause ([context.Cause]) for which the context of a flight ends that every caller has left.
	ErrAbandoned = errors.New("every caller has left")

	errNoResult = errors.New("the request ended without a result")
)

// Group has one flight per key in the air. The zero value is ready; set the fields before the first flight. It is safe
// for concurrent use and must not be copied.
type Group[K comparable, V any] struct {
	// Timeout bounds each flight; zero: none ends by time.
	Timeout time.Duration
	// Max bounds the flights in the air; zero: [DefaultMax]. Those that every caller has left count until they have ended.
	Max int
	// Landed is called with what a flight brought, before its callers get it and before another flight for the key can
	// start: it can keep the result for later ones. A caller that looked for a result before it joined may have missed the
	// one that was kept in between, so fly looks again. Landed is not called for a flight that every caller has left. Nil:
	// no call.
	Landed func(key K, value V, err error)

	mu    sync.Mutex
	byKey map[K]*Flight[K, V]
	inAir int
}

// Flight is a request under way.
type Flight[K comparable, V any] struct {
	group  *Group[K, V]
	key    K
	cancel context.CancelCauseFunc
	done   chan struct{}
	value  V // with err: read them when done is closed
	err    error

	// The mutex of the group guards these.
	callers int
	kept    bool // it goes on without callers
}

// Join returns the flight under way for a key, or starts one in a goroutine of its own. The caller calls [Flight.Wait]
// once: a flight that was joined and is not waited for goes on to its end. fly gets a context with the values of ctx,
// which ends with the timeout and when every caller has left. When fly panics or ends its goroutine, callers get an
// error.
func (g *Group[K, V]) Join(ctx context.Context, key K, fly func(context.Context) (V, error)) *Flight[K, V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f := g.byKey[key]; f != nil {
		f.callers++
		return f
	}
	f := &Flight[K, V]{group: g, key: key, done: make(chan struct{}), callers: 1}
	if g.inAir >= g.max() {
		f.err = ErrFull
		close(f.done)
		return f
	}
	if g.byKey == nil {
		g.byKey = map[K]*Flight[K, V]{}
	}
	g.byKey[key] = f
	g.inAir++
	ctx, stop := g.bounded(context.WithoutCancel(ctx))
	ctx, f.cancel = context.WithCancelCause(ctx)
	go f.run(ctx, stop, fly)
	return f
}

// Find is [Group.Join] where a flight is under way for the key, and nil otherwise.
func (g *Group[K, V]) Find(key K) *Flight[K, V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.byKey[key]
	if f != nil {
		f.callers++
	}
	return f
}

// Refused reports whether there is no flight because Max flights are in the air. Wait returns [ErrFull] then.
func (f *Flight[K, V]) Refused() bool { return f.cancel == nil }

// Keep has the flight go on when every caller has left: what it does must be brought to its end. It returns the flight.
func (f *Flight[K, V]) Keep() *Flight[K, V] {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	f.kept = true
	return f
}

// Wait returns what the flight brought, the same value for all callers, or the error of ctx when that ends before: the
// caller leaves, and the flight ends with the last of them unless it is kept.
func (f *Flight[K, V]) Wait(ctx context.Context) (V, error) {
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
	}
	f.leave()
	var none V
	return none, ctx.Err()
}

// leave counts a caller out. A flight that every caller has left makes room for another at once, however long it takes
// to end.
func (f *Flight[K, V]) leave() {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	f.callers--
	if f.callers > 0 || f.kept || f.group.byKey[f.key] != f {
		return
	}
	delete(f.group.byKey, f.key)
	f.cancel(ErrAbandoned)
}

// run makes the flight. A panic in fly would otherwise end the process, and a [runtime.Goexit] leave the callers
// waiting.
func (f *Flight[K, V]) run(ctx context.Context, stop context.CancelFunc, fly func(context.Context) (V, error)) {
	var value V
	err := errNoResult
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the request panicked: %.200q", fmt.Sprint(p))
		}
		f.cancel(nil)
		stop()
		f.land(value, err)
	}()
	value, err = fly(ctx)
}

// land hands the result to the group and to the callers.
func (f *Flight[K, V]) land(value V, err error) {
	f.value, f.err = value, err
	defer close(f.done)
	g := f.group
	g.mu.Lock()
	g.inAir--
	wanted := g.byKey[f.key] == f
	f.kept = true // a caller that leaves now is too late to end it
	g.mu.Unlock()
	if !wanted {
		return
	}
	defer func() {
		_ = recover() // Landed is not ours either
		g.mu.Lock()
		delete(g.byKey, f.key)
		g.mu.Unlock()
	}()
	if g.Landed != nil {
		g.Landed(f.key, value, err)
	}
}

func (g *Group[K, V]) max() int {
	if g.Max > 0 {
		return g.Max
	}
	return DefaultMax
}

func (g *Group[K, V]) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if g.Timeout > 0 {
		return context.WithTimeout(ctx, g.Timeout)
	}
	return ctx, func() {}
}
