package core

import (
	"errors"
	"net/http"
)

// errNoProvider is to pages an error of the configuration, as it is to Auth.js; a script learns that it asked wrongly.
var errNoProvider = errors.New("the path names a provider that is not configured")

// problemDocument answers a failure of an action with the problem that it is (RFC 9457). The member error has the name
// by which pages know it.
func (p *pages) problemDocument(c *call, err error, response *Response) *Response {
	problem := *problemOf(err)
	e := asError(err, ErrAuth)
	if known, there := problemsOf[e.Type]; there && problem.Status == http.StatusInternalServerError {
		problem.Status, problem.Code = known.status, known.code
	}
	if errors.Is(err, errNoProvider) {
		problem.Status, problem.Code = http.StatusNotFound, "unknown_provider"
	}
	if problem.Status != http.StatusTooManyRequests && e.Type.Public() != "Configuration" {
		problem.Members = map[string]any{"error": e.Type.Public()}
	}
	response = problem.document(&c.arrival, response)
	var soon *tooMany
	switch {
	case errors.As(err, &soon):
		response.Header.Set("Retry-After", soon.seconds())
	case problem.Status == http.StatusServiceUnavailable:
		response.Header.Set("Retry-After", storeRetryAfter)
	}
	problem.retryAfter(response)
	return response
}

// problemsOf are the errors that a visitor may know of and that problemOf does not tell apart.
var problemsOf = map[ErrorType]struct {
	status int
	code   string
}{
	ErrAccountNotLinked:      {http.StatusForbidden, "account_not_linked"},
	ErrOAuthAccountNotLinked: {http.StatusForbidden, "account_not_linked"},
	ErrVerification:          {http.StatusBadRequest, "verification"},
	ErrWebAuthnVerification:  {http.StatusUnauthorized, "webauthn_verification"},
	ErrEmailSignIn:           {http.StatusBadRequest, "email_signin"},
	ErrOAuthCallback:         {http.StatusBadRequest, "oauth_callback"},
	ErrTooManyFailures:       {http.StatusForbidden, "too_many_failures"},
	ErrUnknownAction:         {http.StatusNotFound, "unknown_action"},
}
