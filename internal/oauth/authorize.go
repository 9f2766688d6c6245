package oauth

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/internal/oidc"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// MaxAuthorizationURL is the maximum length of an authorization URL in bytes. It fits into the request line limit of
// common servers.
const MaxAuthorizationURL = 8 << 10

// ErrURLTooLong means that an authorization URL is longer than [MaxAuthorizationURL].
var ErrURLTooLong = errors.New("the authorization URL is too long")

// decided are the parameters of the authorization request that only the flow sets. The query of the sign-in request can
// add other parameters (prompt, login_hint, scope, …), but it cannot replace these or send our callback URL to the
// provider.
var decided = map[string]bool{
	"client_id": true, "redirect_uri": true, "response_type": true, "response_mode": true, "state": true, "nonce": true,
	"code_challenge": true, "code_challenge_method": true, "request": true, "request_uri": true,
	"callbackUrl": true, "csrfToken": true,
}

// AuthorizationRequest contains the parts of an authorization request that are not configured.
type AuthorizationRequest struct {
	// RedirectURI is where the provider redirects the browser after the sign-in.
	RedirectURI string
	// State, Nonce and Verifier bind the response to the request. Empty ones are not sent. Of Verifier, only the code
	// challenge is sent.
	State, Nonce, Verifier string
	// Further are additional parameters from the sign-in request. Parameters that the flow sets are ignored.
	Further url.Values
}

// Authorize returns the authorization URL for the browser (RFC 6749 section 4.1.1, OpenID Connect Core section
// 3.1.2.1).
func (c *Client) Authorize(at Endpoints, r AuthorizationRequest) (string, error) {
	endpoint, err := url.Parse(at.authorization)
	if err != nil || at.authorization == "" {
		return "", c.config.errorf(" has no authorization endpoint")
	}
	fragment := endpoint.EscapedFragment()
	params := c.authorizationParams(endpoint.Query(), r)
	endpoint.RawQuery, endpoint.ForceQuery, endpoint.Fragment, endpoint.RawFragment = "", false, "", ""
	address, err := weburl.Normalise(endpoint.String())
	if err != nil {
		return "", c.config.errorf(": authorization endpoint: %w", err)
	}
	var options []oauth2.AuthCodeOption
	several := url.Values{} // parameters without exactly one value, which have no option
	for name, values := range params {
		if len(values) != 1 {
			several[name] = values
			continue
		}
		options = append(options, oauth2.SetAuthURLParam(name, values[0]))
	}
	if r.Verifier != "" {
		options = append(options, oauth2.S256ChallengeOption(r.Verifier))
	}
	request := oauth2.Config{
		ClientID: c.config.ClientID, RedirectURL: r.RedirectURI, Endpoint: oauth2.Endpoint{AuthURL: address},
	}
	address = request.AuthCodeURL(r.State, options...)
	if len(several) > 0 {
		before, query, _ := strings.Cut(address, "?")
		all, err := url.ParseQuery(query)
		if err != nil {
			return "", c.config.errorf(": authorization endpoint: %w", err)
		}
		maps.Copy(all, several)
		address = before + "?" + all.Encode()
	}
	if fragment != "" {
		address += "#" + fragment
	}
	if len(address) > MaxAuthorizationURL {
		const format = ": the authorization URL has %d bytes: services and browsers take %d"
		return "", &tooLong{c.config.errorf(format, len(address), MaxAuthorizationURL)}
	}
	return address, nil
}

// authorizationParams returns the parameters of an authorization request, except those that [oauth2.Config] sets. query
// is the query of the endpoint.
func (c *Client) authorizationParams(query url.Values, r AuthorizationRequest) url.Values {
	params := query
	maps.Copy(params, c.config.Authorization.Params)
	if !params.Has("scope") && c.config.Scope != "" {
		params.Set("scope", c.config.Scope)
	}
	for name, values := range r.Further {
		if !decided[name] {
			params[name] = values
		}
	}
	if r.Nonce != "" {
		params.Set("nonce", r.Nonce)
	}
	params.Del("client_id")
	params.Del("redirect_uri")
	if params.Get("response_type") == "" {
		params.Del("response_type")
	}
	if r.State != "" {
		params.Del("state")
	}
	return params
}

// tooLong is an [ErrURLTooLong] with the length.
type tooLong struct{ error }

// Is reports whether target is ErrURLTooLong.
func (*tooLong) Is(target error) bool { return target == ErrURLTooLong }

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
