package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// ErrNotFound is the one answer of a store for "there is no such record"; any other error is a failure of the store.
var ErrNotFound = errors.New("store: not found")

// ErrConflict is the answer of a store for "such a record exists already": a taken e-mail, a linked account, a known
// credential.
var ErrConflict = errors.New("store: conflict")

// OpError makes the error that a method of a store returns of what went wrong in it. It is the rule for errors of all
// stores:
//
//   - nil stays nil;
//   - absence is [ErrNotFound] itself;
//   - a conflict is [ErrConflict] behind the name of the engine and the operation;
//   - everything else wraps err behind the two, and the error of ctx when that has ended and err does not say so.
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
	return fmt.Errorf("%s: %s: %w", engine, operation, withEnd(ctx, err))
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
