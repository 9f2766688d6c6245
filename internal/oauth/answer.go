package oauth

import (
	"errors"
	"fmt"

	"github.com/latchkey-go/latchkey/internal/oidc"
)

// Params are the parameters of an authorization response, from a query or a form.
type Params interface {
	// Get returns the first value of a parameter. It returns "" if there is none.
	Get(name string) string
	// Count returns the number of values.
	Count(name string) int
}

// Answer is an authorization response without repeated parameters. It is not verified yet.
type Answer struct {
	code, description, failure string
	iss                        []string
}

// ErrNoCode is the error of an authorization response with neither a code nor an error.
var ErrNoCode = errors.New("the authorization response has no code")

// ReadAnswer reads an authorization response (RFC 6749 section 4.1.2). It rejects repeated parameters.
func ReadAnswer(p Params) (a Answer, err error) {
	for _, name := range []string{"code", "state", "iss", "error"} {
		if p.Count(name) > 1 {
			return a, fmt.Errorf("the authorization response has %s more than once (RFC 6749 section 3.1)", name)
		}
	}
	a.code, a.failure, a.description = p.Get("code"), p.Get("error"), p.Get("error_description")
	if p.Count("iss") > 0 {
		a.iss = []string{p.Get("iss")}
	}
	return a, nil
}

// Code is an authorization code from the expected issuer.
type Code struct{ value string }

// Accept rejects a response of another issuer than the expected one (RFC 9207). It returns an [*AnswerError] for an
// error response. The caller must have checked the state.
func (c *Client) Accept(at Endpoints, a Answer) (Code, error) {
	expected, advertised := c.config.Issuer, false
	if at.metadata != nil {
		expected, advertised = at.metadata.Issuer, at.metadata.AuthorizationResponseIssParameterSupported
		if at.metadata.ManyTenants() { // the ID token names the tenant
			expected = ""
		}
	}
	if err := oidc.CheckIss(a.iss, expected, advertised); err != nil {
		return Code{}, err
	}
	if a.failure != "" {
		return Code{}, &AnswerError{Provider: c.config.ID, Code: a.failure, Description: a.description}
	}
	return Code{a.code}, nil
}

// AnswerError is the error response of an authorization endpoint (RFC 6749 section 4.1.2.1, OpenID Connect Core section
// 3.1.2.6).
type AnswerError struct{ Provider, Code, Description string }

// Error returns the provider, the code and the description, truncated.
func (e *AnswerError) Error() string {
	return fmt.Sprintf("provider %q answered %.100q: %.300q", e.Provider, e.Code, e.Description)
}

// ByUser reports whether the error code describes an action of the user at the provider.
func (e *AnswerError) ByUser() bool {
	switch e.Code {
	case "access_denied", "login_required", "consent_required", "interaction_required", "account_selection_required":
		return true
	}
	return false
}

// ByClient reports whether the error code means that the client's registration does not match its requests.
func (e *AnswerError) ByClient() bool {
	switch e.Code {
	case "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope":
		return true
	}
	return false
}
