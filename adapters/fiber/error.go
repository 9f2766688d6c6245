package authfiber

import (
	"errors"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/latchkey-go/latchkey/core"
)

// publicError wraps an error of core for a handler that returns it to fiber. Fiber's error handler writes the error
// text to the response, so the text is that of a *fiber.Error, 500 or 503 for example. errors.As also finds the
// *core.Error or *core.InvalidInputError, and slog logs the cause.
type publicError struct {
	public *fiber.Error
	cause  error
}

// public wraps an error of core in a publicError. It returns nil for nil.
func public(err error) error {
	if err == nil {
		return nil
	}
	e, invalid := &publicError{fiber.ErrInternalServerError, err}, &core.InvalidInputError{}
	switch {
	case errors.Is(err, core.ErrStoreUnavailable):
		e.public = fiber.ErrServiceUnavailable
	case errors.Is(err, core.ErrNoTenant):
		e.public = fiber.ErrNotFound
	case errors.As(err, &invalid):
		e.public = fiber.ErrUnprocessableEntity
	}
	return e
}

// Error returns a text that is safe to send to the browser.
func (e *publicError) Error() string { return e.public.Error() }

// Unwrap returns the *fiber.Error and the cause.
func (e *publicError) Unwrap() []error { return []error{e.public, e.cause} }

// LogValue returns the cause.
func (e *publicError) LogValue() slog.Value { return slog.AnyValue(e.cause) }
