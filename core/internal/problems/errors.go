package problems

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/errortypes"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/form"
)

// BadRequest is an error with the response 400 "Bad request." instead of a page.
type BadRequest struct {
	Cause *autherr.Error
	// Unknown means that no action has this path. A browser that requests a page gets status 404.
	Unknown bool
}

// Error returns the text of the cause.
func (e *BadRequest) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *BadRequest) Unwrap() error { return e.Cause }

// TooMany is the error of an attempt that exceeds a limit.
type TooMany struct{ Wait time.Duration }

// Error states the time to wait.
func (e *TooMany) Error() string {
	return fmt.Sprintf("core: too many attempts: retry after %v", e.Wait)
}

// ErrNoProvider is a configuration error on pages, as in Auth.js. JSON clients get status 404.
var ErrNoProvider = errors.New("the path names a provider that is not configured")

// Of returns status and code of the problem document for an error.
func Of(err error) (status int, code string) {
	var body *form.BodyError
	switch e := errormarks.As(err, autherr.Auth); {
	case errors.As(err, &body):
		return body.Status, badRequest
	case errors.As(err, new(*BadRequest)), e.Type == autherr.InvalidCallbackURL:
		return http.StatusBadRequest, badRequest
	case errors.As(err, new(*TooMany)):
		return http.StatusTooManyRequests, "too_many"
	case errors.Is(err, store.ErrUnavailable):
		return http.StatusServiceUnavailable, "unavailable"
	case e.Type == autherr.MissingCSRF:
		return http.StatusForbidden, "missing_csrf"
	case e.Type == autherr.AccessDenied:
		return http.StatusForbidden, "access_denied"
	case e.Type == autherr.CredentialsSignin:
		return http.StatusUnauthorized, Code(e.Code)
	case e.Type == autherr.InvalidCheck, e.Type == autherr.Verification: // any client can cause them
		return http.StatusBadRequest, badRequest
	}
	return http.StatusInternalServerError, "server_error"
}

const badRequest = "bad_request"

// OfAction returns status, code and members of the problem document for an error of an action of Auth.js. status and
// code are those that the error has elsewhere. The member "error" is the name that pages use.
func OfAction(err error, status int, code string) (int, string, map[string]any) {
	kind := errormarks.As(err, autherr.Auth).Type
	if known := errortypes.Of(string(kind)); known.Status != 0 && status == http.StatusInternalServerError {
		status, code = known.Status, known.Code
	}
	if errors.Is(err, ErrNoProvider) {
		status, code = http.StatusNotFound, "unknown_provider"
	}
	name := kind.Public()
	if status == http.StatusTooManyRequests || name == "Configuration" {
		return status, code, nil
	}
	return status, code, map[string]any{"error": name}
}
