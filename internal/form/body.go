package form

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// BodyError is the error of an unreadable body, with the status of the response.
type BodyError struct {
	Status int
	Cause  error
}

// Error returns the cause.
func (e *BodyError) Error() string { return "core: request body: " + e.Cause.Error() }

// Unwrap returns the cause.
func (e *BodyError) Unwrap() error { return e.Cause }

// ErrConsumed is a configuration error. No client can cause it, because servers report a truncated body themselves.
var ErrConsumed = errors.New("the request body is gone: a middleware or handler has read it before " +
	"Latchkey. Move " +
	"Latchkey in front of it, or let it put the body back: r.Body = io.NopCloser(bytes.NewReader(data)). Forms are " +
	"also found in r.PostForm of the same *http.Request, where r.ParseForm puts them")

// ReadBody reads a body as Read does, and detects a body that was read before. length is the declared length; it is
// negative if there is none. The error is a *[BodyError] or [ErrConsumed].
func ReadBody(ctx context.Context, contentType []string, from io.Reader, length int64) (Fields, error) {
	body := &countedBody{from: from}
	fields, err := Read(ctx, contentType, body)
	var limited *http.MaxBytesError // of a middleware
	switch {
	case errors.Is(err, TooLarge{}), errors.As(err, &limited):
		return fields, &BodyError{http.StatusRequestEntityTooLarge, err}
	case errors.Is(err, http.ErrBodyReadAfterClose), body.empty() && length > 0 && ctx.Err() == nil:
		if length > MaxBody {
			return fields, &BodyError{http.StatusRequestEntityTooLarge, TooLarge{}}
		}
		return Fields{}, ErrConsumed
	case err != nil && body.empty():
		return fields, &BodyError{
			http.StatusBadRequest, fmt.Errorf("%w: the body is empty, or a middleware has read it", err),
		}
	case err != nil:
		return fields, &BodyError{http.StatusBadRequest, err}
	case body.empty() && length < 0: // sent in chunks
		return Fields{unread: "it is empty, or a middleware has read it"}, nil
	}
	return fields, nil
}

// countedBody counts the bytes read from a body.
type countedBody struct {
	from  io.Reader
	n     int64
	ended bool
}

// Read implements [io.Reader].
func (b *countedBody) Read(p []byte) (n int, err error) {
	if b.from == nil {
		b.ended = true
		return 0, io.EOF
	}
	n, err = b.from.Read(p)
	b.n += int64(n)
	b.ended = b.ended || err == io.EOF
	return n, err
}

// empty reports whether the body had no bytes left.
func (b *countedBody) empty() bool { return b.ended && b.n == 0 }
