package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
)

// failed adds the operation to an error, and converts driver errors to those of the contract. args are the statement's
// values, which may include a token: a driver message that contains one of them is hidden.
func (e *engine) failed(ctx context.Context, operation string, err error, args []any) error {
	switch {
	case err == nil || errors.Is(err, store.ErrNotFound):
	case e.dialect.Conflict(err):
		err = store.ErrConflict
	case e.dialect.NoParent(err):
		return fmt.Errorf("%s: %s: the user does not exist: %w", e.dialect.Name, operation, store.ErrNotFound)
	default:
		temporary := e.dialect.temporary(err)
		if err = e.dialect.shown(err, args); temporary {
			err = store.Unavailable(err)
		}
	}
	return store.OpError(ctx, e.dialect.Name, operation, err)
}

// temporary reports whether an error is temporary.
func (d *Dialect) temporary(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || d.Retry(err) || d.Busy != nil && d.Busy(err) ||
		d.Unavailable != nil && d.Unavailable(err)
}

// shown adds the fix if a table is missing, and hides a message that may contain a value.
func (d *Dialect) shown(err error, args []any) error {
	missing := d.Missing(err)
	if d.Repeats != nil && d.Repeats(err) || repeats(err.Error(), args) {
		err = hiddenError{err}
	}
	if missing {
		return fmt.Errorf("a table or column is missing: call store.Migrate(ctx) at start-up, "+
			"which also restores what a schema tool has dropped: %w", err)
	}
	return err
}

// repeats reports whether a message contains the beginning of a value. It compares only the beginning, because drivers
// truncate long values. It ignores values shorter than 6 bytes, which may be ordinary words of the message.
func repeats(message string, args []any) bool {
	for _, arg := range args {
		if text, ok := arg.(string); ok && len(text) >= 6 && strings.Contains(message, text[:min(len(text), 16)]) {
			return true
		}
	}
	return false
}

// hiddenError hides the message of an error that contains a value. errors.As finds the original.
type hiddenError struct{ err error }

func (hiddenError) Error() string {
	return "the database rejected a value: its message is hidden because it contains the value"
}
func (u hiddenError) Unwrap() error { return u.err }
