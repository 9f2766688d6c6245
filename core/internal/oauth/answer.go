package oauth

import (
	"errors"
	"fmt"

	"github.com/latchkey-go/latchkey/core/internal/oidc"
)

// Params are the parameters of an authorization response, from a query or from a posted form.
type Params interface {
	// Get returns the first value of a parameter, "" when there is none.
	Get(name string) string
	// Count counts its values.
	Count(name string) int
}

// Answer is an authorization response of which every parameter came at most once. Nothing of it is believed yet.
type Answer struct {
	code, description, failure string
	iss                        []string
}

// ErrNoCode says that an answer has neither a code nor an error.
var ErrNoCode = errors.New("the answer has no code")

// ReadAnswer reads an authorization response (RFC 6749 section 4.1.2) and refuses one that has a parameter twice.
func ReadAnswer(p Params) (a Answer, err error) {
	for _, name := range []string{"code", "state", "iss", "error"} {
		if p.Count(name) > 1 {
			return a, fmt.Errorf("the answer has %s twice (RFC 6749 section 3.1)", name)
		}
	}
	a.code, a.failure, a.description = p.Get("code"), p.Get("error"), p.Get("error_description")
	if p.Count("iss") > 0 {
		a.iss = []string{p.Get("iss")}
	}
	return a, nil
}

// Code is an authorization code of the provider that was asked.
type Code struct{ value string }

// Accept refuses an answer of another issuer than the one asked (RFC 9207), and one that is an error: an
// [*AnswerError]. Call it when the state of the answer is the one sent.
func (c *Client) Accept(at Endpoints, a Answer) (Code, error) {
	expected, advertised := c.config.Issuer, false
	if at.metadata != nil {
		expected, advertised = at.metadata.Issuer, at.metadata.AuthorizationResponseIssParameterSupported
		if at.metadata.ManyTenants() { // which one it is, the ID token says
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

// Error has provider, code and description, bounded.
func (e *AnswerError) Error() string {
	return fmt.Sprintf("provider %q answered %.100q: %.300q", e.Provider, e.Code, e.Description)
}

// ByVisitor reports whether the code says what the visitor did at the provider.
func (e *AnswerError) ByVisitor() bool {
	switch e.Code {
	case "access_denied", "login_required", "consent_required", "interaction_required", "account_selection_required":
		return true
	}
	return false
}

// ByClient reports whether the code says that the client is registered otherwise than it asks.
func (e *AnswerError) ByClient() bool {
	switch e.Code {
	case "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope":
		return true
	}
	return false
}
