// Package flight coalesces concurrent requests: callers that request the same key at the same time share one request,
// called a flight.
package flight

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// DefaultMax is the maximum number of concurrent flights of a [Group] whose Max is zero.
const DefaultMax = 1000

var (
	// ErrFull is returned if Max flights are in progress and none has the requested key.
	ErrFull = errors.New("too many requests are in progress")
	// ErrAbandoned is the cause ([context.Cause]) of the end of a flight's context when all callers have left.
	ErrAbandoned = errors.New("every caller has left")

	errNoResult = errors.New("the request ended without a result")
)

// Group runs at most one flight for each key. The zero value is ready to use; set the fields before the first flight.
// It is safe for concurrent use and must not be copied.
type Group[K comparable, V any] struct {
	// Timeout limits the duration of each flight. Zero means no limit.
	Timeout time.Duration
	// Max is the maximum number of concurrent flights. The default is [DefaultMax]. Flights that all callers have left
	// count until they end.
	Max int
	// Landed, if not nil, is called with the result of a flight, before its callers receive it and before another flight
	// for the key can start. It can cache the result. A caller that checked the cache before it joined may have missed the
	// result of the previous flight, so fly should check the cache again. Landed is not called for a flight that all
	// callers have left.
	Landed func(key K, value V, err error)

	mu    sync.Mutex
	byKey map[K]*Flight[K, V]
	inAir int
}

// Flight is a request in progress.
type Flight[K comparable, V any] struct {
	group  *Group[K, V]
	key    K
	cancel context.CancelCauseFunc
	done   chan struct{}
	value  V // value and err are set when done is closed
	err    error

	// These fields are guarded by the group's mutex.
	callers int
	kept    bool // it continues without callers
}

// Join returns the pending flight for a key, or starts one in a new goroutine. The caller must call [Flight.Wait] once;
// otherwise the flight never counts as left by all callers. The context of fly has the values of ctx. It ends with the
// timeout, or when all callers have left. If fly panics or ends its goroutine, callers receive an error.
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

// Find returns the pending flight for the key as [Group.Join] does, or nil.
func (g *Group[K, V]) Find(key K) *Flight[K, V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.byKey[key]
	if f != nil {
		f.callers++
	}
	return f
}

// Refused reports whether there is no flight because Max flights are in progress. Wait then returns [ErrFull].
func (f *Flight[K, V]) Refused() bool { return f.cancel == nil }

// Keep makes the flight continue when all callers have left, because its work must be completed. It returns f.
func (f *Flight[K, V]) Keep() *Flight[K, V] {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	f.kept = true
	return f
}

// Wait returns the result of the flight, the same value for all callers. If ctx ends first, it returns the error of
// ctx: the caller leaves, and the flight ends with the last caller unless it is kept.
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

// leave removes a caller. When all callers have left, another flight for the key can start immediately, even if this
// one has not ended yet.
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

// run calls fly. It recovers a panic, which would end the process, and handles [runtime.Goexit], after which callers
// would wait forever.
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

// land passes the result to the group and the callers.
func (f *Flight[K, V]) land(value V, err error) {
	f.value, f.err = value, err
	defer close(f.done)
	g := f.group
	g.mu.Lock()
	g.inAir--
	wanted := g.byKey[f.key] == f
	f.kept = true // a caller that leaves now cannot cancel it
	g.mu.Unlock()
	if !wanted {
		return
	}
	defer func() {
		_ = recover() // Landed may panic too
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
