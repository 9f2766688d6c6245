package storetest

import (
	"context"
	"sync/atomic"
)

// countdown is the context of newCountdown.
type countdown struct {
	context.Context
	looks  *atomic.Int64
	cancel context.CancelFunc
}

// newCountdown returns a context that is cancelled after a number of calls to its methods, so that it ends within a
// call of the store. It also ends with parent.
func newCountdown(parent context.Context, looks int64) context.Context {
	c := countdown{looks: &atomic.Int64{}}
	c.Context, c.cancel = context.WithCancel(parent)
	c.looks.Store(looks)
	return c
}

func (c countdown) look() {
	if c.looks.Add(-1) <= 0 {
		c.cancel()
	}
}

// Err implements [context.Context].
func (c countdown) Err() error { c.look(); return c.Context.Err() }

// Done implements [context.Context].
func (c countdown) Done() <-chan struct{} { c.look(); return c.Context.Done() }
