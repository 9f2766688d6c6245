// Package errormarks marks the causes of errors: with a log level, or with the reason why a callback can no longer be
// used. Marks do not change the text of an error.
package errormarks

import (
	"errors"
	"log/slog"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errortypes"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// leveled is a cause with its own log level, which replaces that of its type.
type leveled struct {
	error
	level slog.Level
}

func (e *leveled) Unwrap() error { return e.error }

// ByClient marks an error that the client caused, in an error type that usually means a configuration error.
func ByClient(err error) error { return &leveled{err, slog.LevelInfo} }

// IsByClient reports whether an error was marked by [ByClient].
func IsByClient(err error) bool {
	var marked *leveled
	return errors.As(err, &marked) && marked.level == slog.LevelInfo
}

// Suspicious marks an error that the client caused and that may be an attack.
func Suspicious(err error) error { return &leveled{err, slog.LevelWarn} }

// ByServer marks an error of the application, a provider or the store, in an error type that usually means a mistake of
// the client.
func ByServer(err error) error { return &leveled{err, slog.LevelError} }

// Level returns the log level of an error: ERROR for a panic, else the level of its cause, else the level of its type.
func Level(e *autherr.Error) slog.Level {
	var panicked *panics.Error
	var marked *leveled
	switch {
	case errors.As(e, &panicked):
		return slog.LevelError
	case errors.As(e, &marked):
		return marked.level
	}
	return errortypes.Of(string(e.Type)).Level
}

// As returns err as an *autherr.Error. If err wraps an *autherr.Error with further text, the result has the type and
// code of that error and err as its cause, so that the whole text is logged. If err wraps none, the result has the type
// otherwise, and its cause is err with the marks applied.
func As(err error, otherwise autherr.Type, marks ...func(error) error) *autherr.Error {
	var e *autherr.Error
	if errors.As(err, &e) {
		if err.Error() == e.Error() {
			return e
		}
		return &autherr.Error{Type: e.Type, Code: e.Code, Cause: err}
	}
	var t autherr.Type
	if errors.As(err, &t) {
		return &autherr.Error{Type: t}
	}
	for _, mark := range marks {
		err = mark(err)
	}
	return autherr.New(otherwise, err)
}

// Typed is As, and the result always has type t. An error with another type becomes its cause.
func Typed(err error, t autherr.Type, marks ...func(error) error) *autherr.Error {
	e := As(err, t, marks...)
	if e.Type == t {
		return e
	}
	return autherr.New(t, e)
}

// Denial returns an error with a reason for the audit event.
func Denial(r audit.Reason, text string) error {
	return &audit.Denial{Reason: r, Err: errors.New(text)}
}

// Reason says why a sign-in can no longer be completed. The error page receives it in the parameter "reason".
type Reason string

// The reasons. Custom error pages of applications read them, so the values must not change.
const (
	// Expired: the browser has no cookie of the flow. It was started too long ago, or in another browser.
	Expired Reason = "expired"
	// Browser: another browser started the flow.
	Browser Reason = "browser"
	// Used: the code, challenge or link was used before.
	Used Reason = "used"
)

// ParseReason reads the parameter of the error page. It returns "" for a value that is not a reason.
func ParseReason(text string) Reason {
	switch reason := Reason(text); reason {
	case Expired, Browser, Used:
		return reason
	}
	return ""
}

// over is a cause with its reason.
type over struct {
	error
	reason Reason
}

func (e *over) Unwrap() error { return e.error }

// Over marks an error of a callback that can no longer be used. The user may have reloaded it, returned to it with the
// back button, or waited too long.
func Over(reason Reason, err error) error { return &over{err, reason} }

// ReasonIn returns why a callback can no longer be used. It is empty for other errors.
func ReasonIn(err error) Reason {
	var e *over
	if errors.As(err, &e) {
		return e.reason
	}
	return ""
}
