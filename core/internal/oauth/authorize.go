package oauth

import (
	"errors"
	"net/url"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// MaxAuthorizationURL is how long an authorization URL may be: what fits into the request line of common servers.
const MaxAuthorizationURL = 8 << 10

// ErrURLTooLong says that an authorization URL has more than [MaxAuthorizationURL] bytes.
var ErrURLTooLong = errors.New("the authorization URL is too long")

// decided are the parameters of the authorization request that the flow itself decides. A visitor's query can add to
// the request (prompt, login_hint, scope, …) but never replace these, nor hand the provider our own callback URL.
var decided = map[string]bool{
	"client_id": true, "redirect_uri": true, "response_type": true, "response_mode": true, "state": true, "nonce": true,
	"code_challenge": true, "code_challenge_method": true, "request": true, "request_uri": true,
	"callbackUrl": true, "csrfToken": true,
}

// AuthorizationRequest is what an authorization request carries besides what the configuration says.
type AuthorizationRequest struct {
	// RedirectURI is where the provider sends the browser back to.
	RedirectURI string
	// State, Nonce and Verifier tie the answer to the request; empty: not sent. Of the code verifier the challenge is
	// sent.
	State, Nonce, Verifier string
	// Further are the visitor's own parameters. What the flow decides is left out of them.
	Further url.Values
}

// Authorize returns the address that the browser goes to (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1).
func (c *Client) Authorize(at Endpoints, r AuthorizationRequest) (string, error) {
	target, err := url.Parse(at.authorization)
	if err != nil || at.authorization == "" {
		return "", c.errorf(" has no authorization endpoint")
	}
	params := target.Query()
	for name, values := range c.config.Authorization.Params {
		params[name] = values
	}
	for name, values := range r.Further {
		if !decided[name] {
			params[name] = values
		}
	}
	params.Set("response_type", or(params.Get("response_type"), "code"))
	params.Set("client_id", c.config.ClientID)
	params.Set("redirect_uri", r.RedirectURI)
	if !params.Has("scope") && c.config.Scope != "" {
		params.Set("scope", c.config.Scope)
	}
	if r.State != "" {
		params.Set("state", r.State)
	}
	if r.Nonce != "" {
		params.Set("nonce", r.Nonce)
	}
	if r.Verifier != "" {
		params.Set("code_challenge", oauth2.S256ChallengeFromVerifier(r.Verifier)) // S256 whatever the provider advertises
		params.Set("code_challenge_method", "S256")
	}
	return c.authorizationURL(target, params)
}

// authorizationURL is the address of the authorization endpoint with the parameters, and with its own fragment behind
// them.
func (c *Client) authorizationURL(target *url.URL, params url.Values) (string, error) {
	fragment := target.EscapedFragment()
	target.RawQuery, target.Fragment, target.RawFragment = "", "", ""
	address, err := weburl.Normalise(target.String())
	if err != nil {
		return "", c.errorf(": authorization endpoint: %w", err)
	}
	address += "?" + params.Encode()
	if fragment != "" {
		address += "#" + fragment
	}
	if len(address) > MaxAuthorizationURL {
		const format = ": the authorization URL has %d bytes: services and browsers take %d"
		return "", &tooLong{c.errorf(format, len(address), MaxAuthorizationURL)}
	}
	return address, nil
}

// tooLong is an [ErrURLTooLong] that says how long.
type tooLong struct{ error }

// Is reports whether target is ErrURLTooLong.
func (*tooLong) Is(target error) bool { return target == ErrURLTooLong }
