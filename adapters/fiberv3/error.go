package authfiber

import (
	"errors"
	"log/slog"

	"github.com/gofiber/fiber/v3"

	"github.com/latchkey-go/latchkey/core"
)

// publicError is an error of core for a handler that returns it to fiber, whose error handler writes the text of an
// error to the response. Its text is therefore that of a *fiber.Error, 500 or 503 for example. errors.As also finds the
// *core.Error or *core.InvalidInputError, and slog logs the cause.
type publicError struct {
	public *fiber.Error
	cause  error
}

// public wraps an error of core; nil stays nil.
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

// Error returns a text that a browser may see.
func (e *publicError) Error() string { return e.public.Error() }

// Unwrap returns the *fiber.Error and the cause.
func (e *publicError) Unwrap() []error { return []error{e.public, e.cause} }

// LogValue returns the cause.
func (e *publicError) LogValue() slog.Value { return slog.AnyValue(e.cause) }
