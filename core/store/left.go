package store

import (
	"context"
	"fmt"
	"time"
)

// MostLeft is the maximum number of remaining rows that a store counts after DeleteExpired was interrupted.
const MostLeft = 10_000

// countTime is the timeout for that count, after the context of DeleteExpired has ended.
const countTime = time.Second

// LeftError is in the error of DeleteExpired if its context has ended. It contains the number of rows left for the next
// call.
type LeftError struct {
	// Rows is the number of remaining rows, at most [MostLeft]. A store that finds rows by their original expiry also
	// counts those that were extended since.
	Rows int
	// More reports whether there may be more rows than were counted.
	More bool
	// Err is the error of DeleteExpired. It wraps the error of the context.
	Err error
}

// Error returns the error and the number of remaining rows.
func (e *LeftError) Error() string {
	least := ""
	if e.More {
		least = "at least "
	}
	return fmt.Sprintf("%v: %s%d expired rows are left for the next call", e.Err, least, e.Rows)
}

// Unwrap returns Err.
func (e *LeftError) Unwrap() error { return e.Err }

// WithLeft adds the number of remaining rows to an error of DeleteExpired, as a [LeftError], if the context has ended.
// It returns other errors unchanged. count counts at most [MostLeft] rows and reports whether there may be more; its
// context has a timeout of one second. If count fails, the error is returned unchanged.
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
