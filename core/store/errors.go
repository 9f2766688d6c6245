package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"
)

// ErrNotFound is the one answer of a store for "there is no such record"; any other error is a failure of the store.
var ErrNotFound = errors.New("store: not found")

// ErrConflict is the answer of a store for "such a record exists already": a taken e-mail, a linked account, a known
// credential. Of [RecordStore] it is also the answer for "somebody else wrote it meanwhile".
var ErrConflict = errors.New("store: conflict")

// ErrUnavailable is what the error of a store says, beside its cause, when the engine could not be reached or gave no
// answer in time, and may do so by itself later. Core then answers that the service is busy, where other failures of a
// store are answered as faults of the configuration.
var ErrUnavailable = errors.New("store: unavailable")

// Unavailable marks an error with [ErrUnavailable]; its text stays as it is, and nil stays nil. [OpError] marks by
// itself what deadlines and broken connections are about.
func Unavailable(err error) error {
	if err == nil || errors.Is(err, ErrUnavailable) {
		return err
	}
	return unavailable{err}
}

type unavailable struct{ error }

func (e unavailable) Unwrap() error        { return e.error }
func (e unavailable) Is(target error) bool { return target == ErrUnavailable }

// unreached reports whether an error is about a deadline or a connection rather than an answer of the engine.
func unreached(err error) bool {
	var operation *net.OpError
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &operation) || errors.As(err, &network) && network.Timeout()
}

// OpError makes the error that a method of a store returns of what went wrong in it. It is the rule for errors of all
// stores:
//
//   - nil stays nil;
//   - absence is [ErrNotFound] itself;
//   - a conflict is [ErrConflict] behind the name of the engine and the operation;
//   - everything else wraps err behind the two, and the error of ctx when that has ended and err does not say so;
//   - where it is about a deadline or a broken connection it is [ErrUnavailable] too.
//
// A store turns the errors of its driver into ErrNotFound and ErrConflict, and hides messages that repeat values,
// before.
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

// withEnd adds that the context has ended where a driver does not say so. A connection may notice a deadline before the
// context does.
func withEnd(ctx context.Context, err error) error {
	ended := ctx.Err()
	var network net.Error
	at, limited := ctx.Deadline()
	if ended == nil && limited && errors.As(err, &network) && network.Timeout() {
		if time.Until(at) <= 0 { //nolint:forbidigo // the context's deadline is one of the machine's clock
			ended = context.DeadlineExceeded
		}
	}
	if ended == nil || errors.Is(err, ended) {
		return err
	}
	return fmt.Errorf("%w: %w", ended, err)
}

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
