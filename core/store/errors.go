package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/internal/recordstore"
)

// ErrNotFound means that a record does not exist. Any other error is a failure of the store.
var ErrNotFound = recordstore.ErrNotFound

// ErrConflict means that a record already exists: an email address is taken, an account is linked, or a credential is
// known. For a [RecordStore] it also means that the record was changed in the meantime.
var ErrConflict = recordstore.ErrConflict

// ErrUnsupported means that a database cannot run a query efficiently, because no index serves it. It is also an
// [errors.ErrUnsupported]. The store's README has the alternatives.
var ErrUnsupported = fmt.Errorf("store: no index serves this query: %w", errors.ErrUnsupported)

// ErrCursor means that the cursor of a page is malformed. If the cursor is from a client, respond with status 400.
var ErrCursor = errors.New("store: invalid cursor")

// ErrUnavailable marks the error of a store whose database could not be reached or did not respond in time, so that a
// retry may succeed. Core then responds with status 503, whereas other failures of a store are treated as configuration
// errors.
var ErrUnavailable = recordstore.ErrUnavailable

// Unavailable marks an error with [ErrUnavailable] and keeps its text. It returns nil for nil. [OpError] does this
// automatically for timeouts and broken connections.
func Unavailable(err error) error { return recordstore.Unavailable(err) }

// OpError returns the error of a store method for an error err in an operation. All stores use it:
//
//   - If err is nil, it returns nil.
//   - If err is [ErrNotFound], it returns ErrNotFound itself.
//   - If err is [ErrConflict], it wraps ErrConflict with the names of the engine and the operation.
//   - Otherwise it wraps err with these names, and adds the error of ctx if that has ended and err does not contain it.
//   - A timeout or a broken connection is also marked with [ErrUnavailable].
//
// Before the call, a store maps the errors of its driver to ErrNotFound and ErrConflict, and replaces messages that
// contain values.
func OpError(ctx context.Context, engine, operation string, err error) error {
	return recordstore.OpError(ctx, engine, operation, err)
}

// Pause sleeps for a random duration below longest, which must be positive, or until ctx is done. It returns the error
// of ctx. Stores use it as jitter before a retry after a write conflict.
func Pause(ctx context.Context, longest time.Duration) error { return recordstore.Pause(ctx, longest) }
