package access

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Error is the refusal of an RPC call.
type Error struct {
	// Code is the status code of gRPC and Connect: 16 (unauthenticated), 7 (permission denied), 8 (resource exhausted),
	// 14 (unavailable) or 13 (internal).
	Code uint32
	// Reason identifies the problem for programs, for example "reauth_required".
	Reason string
	// Message is a sentence for users.
	Message string
	// Problem is the problem document (RFC 9457). That of a step-up has the members maxAge, strong and acrValues.
	Problem map[string]any
	// Challenge is the value of WWW-Authenticate (RFC 6750 section 3, RFC 9470 section 3). It may be empty.
	Challenge string
	// RetryAfter is the time to wait before the next call. Zero means that the server does not know.
	RetryAfter time.Duration

	cause error
}

// Error returns the reason and the message.
func (e *Error) Error() string { return e.Reason + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Known reports whether the call was refused because of its credentials, not because they could not be checked.
func (e *Error) Known() bool { return e.Code == 16 || e.Code == 7 }

// errorOf returns the error for a response to a program.
func errorOf(r *core.Response) *Error {
	e := &Error{Challenge: r.Header.Get("Www-Authenticate"), cause: r.Err}
	switch r.Status {
	case http.StatusUnauthorized, http.StatusBadRequest: // a malformed credential
		e.Code = 16
	case http.StatusForbidden, http.StatusNotFound: // no tenant
		e.Code = 7
	case http.StatusTooManyRequests:
		e.Code, e.Reason, e.Message = 8, "too_many_requests", "There were too many calls. Try again later."
	case http.StatusServiceUnavailable:
		e.Code, e.Reason, e.Message = 14, "unavailable", "The service is busy. Try again in a moment."
	default:
		e.Code, e.Reason, e.Message = 13, "server_error", "The server could not check the call."
	}
	if wait, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(wait) * time.Second
	}
	_ = json.Unmarshal(r.Body, &e.Problem) // if it is no document, Problem gets its members below
	if e.Problem == nil {
		e.Problem = map[string]any{}
	}
	text := func(name string) string { value, _ := e.Problem[name].(string); return value }
	e.Reason = cmp.Or(text("code"), e.Reason, "not_found")
	e.Message = cmp.Or(text("detail"), e.Message, http.StatusText(r.Status))
	delete(e.Problem, "message")
	e.Problem["status"], e.Problem["code"] = float64(r.Status), e.Reason
	return e
}
