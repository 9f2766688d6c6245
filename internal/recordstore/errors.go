package recordstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"
)

// The errors of stores.
var (
	ErrNotFound    = errors.New("store: not found")
	ErrConflict    = errors.New("store: conflict")
	ErrUnavailable = errors.New("store: unavailable")
)

// Unavailable marks an error with [ErrUnavailable] and keeps its text. It returns nil for nil.
func Unavailable(err error) error {
	if err == nil || errors.Is(err, ErrUnavailable) {
		return err
	}
	return unavailable{err}
}

type unavailable struct{ error }

func (e unavailable) Unwrap() error        { return e.error }
func (e unavailable) Is(target error) bool { return target == ErrUnavailable }

// unreached reports whether an error is a timeout or a connection error, rather than an error that the database
// returned.
func unreached(err error) bool {
	var operation *net.OpError
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &operation) || errors.As(err, &network) && network.Timeout()
}

// OpError returns the error of a store method. It is documented in core/store.
func OpError(ctx context.Context, engine, operation string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNotFound):
		return ErrNotFound
	case errors.Is(err, ErrConflict):
		return fmt.Errorf("%s: %s: %w", engine, operation, ErrConflict)
	}
	if err = withEnd(ctx, err); unreached(err) {
		err = Unavailable(err)
	}
	return fmt.Errorf("%s: %s: %w", engine, operation, err)
}

// withEnd adds the context's error if the driver's error does not contain it. A connection may notice a deadline before
// the context does.
func withEnd(ctx context.Context, err error) error {
	ended := ctx.Err()
	var network net.Error
	at, limited := ctx.Deadline()
	if ended == nil && limited && errors.As(err, &network) && network.Timeout() {
		if time.Until(at) <= 0 { //nolint:forbidigo // the context's deadline uses the real clock
			ended = context.DeadlineExceeded
		}
	}
	if ended == nil || errors.Is(err, ended) {
		return err
	}
	return fmt.Errorf("%w: %w", ended, err)
}

// Pause sleeps for a random duration below longest, which must be positive, or until ctx is done. It returns the error
// of ctx.
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
