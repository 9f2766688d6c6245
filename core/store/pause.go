package store

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pause waits for a time at random, shorter than longest, which is more than zero: for stores that begin something anew
// because others were in the way, so that those who met do not meet again. It returns the error of ctx when that ends
// first.
func Pause(ctx context.Context, longest time.Duration) error {
	timer := time.NewTimer(rand.N(longest)) //nolint:gosec // no secret
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
