package store

import (
	"context"
	"fmt"
	"time"
)

// MostLeft is how many rows a store counts at most to say what DeleteExpired has left behind.
const MostLeft = 10_000

// countTime is how long that counting may take beyond the context of DeleteExpired.
const countTime = time.Second

// LeftError is in the error of DeleteExpired when its context has ended: it says how much the next call finds.
type LeftError struct {
	// Rows is how many rows were left when they were counted, [MostLeft] at most. An engine that finds them by when they
	// were to end counts those too that have been extended since.
	Rows int
	// More says that there may be more of them: Rows is what was counted at a bounded cost.
	More bool
	// Err is the error of DeleteExpired, which wraps that of the context.
	Err error
}

// Error implements error.
func (e *LeftError) Error() string {
	least := ""
	if e.More {
		least = "at least "
	}
	return fmt.Sprintf("%v: %s%d expired rows are left for the next call", e.Err, least, e.Rows)
}

// Unwrap returns Err.
func (e *LeftError) Unwrap() error { return e.Err }

// WithLeft adds to an error of DeleteExpired how much is left, as a [LeftError], when the context has ended; any other
// error stays as it is. count counts [MostLeft] rows at most and says whether there may be more; its own context lasts
// one second, and where it fails the error stays as it is.
func WithLeft(
	ctx context.Context, err error, count func(ctx context.Context) (rows int, more bool, err error),
) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	counting, end := context.WithTimeout(context.WithoutCancel(ctx), countTime)
	defer end()
	rows, more, failed := count(counting)
	if failed != nil {
		return err
	}
	return &LeftError{Rows: rows, More: more, Err: err}
}
