package dbtest

import (
	"context"
	"sync"
)

// Waits returns a context that calls tells on the first call to Done, for example by a lookup that waits for others. A
// test then knows that the lookup is queued.
func Waits(ctx context.Context, tells func()) context.Context {
	return &waits{Context: ctx, tells: tells}
}

type waits struct {
	context.Context
	once  sync.Once
	tells func()
}

func (w *waits) Done() <-chan struct{} {
	w.once.Do(w.tells)
	return w.Context.Done()
}
