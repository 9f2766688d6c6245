package storetest

import (
	"context"
	"sync"
)

// Waits returns a context that calls tells when somebody first waits for its end, as a look-up does that others are in
// front of: a test then knows that it stands in the queue.
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
