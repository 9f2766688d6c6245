package oauth

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/internal/ascii"
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
	target, err := c.authorization(at.authorization)
	if err != nil {
		return "", err
	}
	var room [16]parameter
	params := append(parameters(room[:0]), target.params...)
	for name, values := range r.Further {
		if !decided[name] {
			params = params.withAll(name, values)
		}
	}
	params = params.put("redirect_uri", c.inQuery(r.RedirectURI))
	if r.State != "" {
		params = params.with("state", r.State)
	}
	if r.Nonce != "" {
		params = params.with("nonce", r.Nonce)
	}
	if r.Verifier != "" { // always S256
		params = params.put("code_challenge", oauth2.S256ChallengeFromVerifier(r.Verifier))
		params = params.put("code_challenge_method", "S256")
	}
	address := params.appendTo(append(make([]byte, 0, 1024), target.address...))
	address = append(address, target.fragment...)
	if len(address) > MaxAuthorizationURL {
		const format = ": the authorization URL has %d bytes: services and browsers take %d"
		return "", &tooLong{c.config.errorf(format, len(address), MaxAuthorizationURL)}
	}
	return string(address), nil
}

// redirectURI is a redirect URI and its encoded form for a query.
type redirectURI struct{ address, escaped string }

// inQuery returns a redirect URI encoded for a query. It caches the last one, because most applications use a single
// host.
func (c *Client) inQuery(address string) string {
	if known := c.redirect.Load(); known != nil && known.address == address {
		return known.escaped
	}
	r := &redirectURI{address, url.QueryEscape(address)}
	c.redirect.Store(r)
	return r.escaped
}

// authorizationTarget is a parsed authorization endpoint, with the parameters that are the same in all requests.
type authorizationTarget struct {
	endpoint string // as configured or discovered
	// address is the URL of the endpoint up to the question mark. fragment is appended after the parameters.
	address, fragment string
	params            parameters
}

// authorization parses an endpoint. It caches the last one, because a provider usually has a single endpoint.
func (c *Client) authorization(endpoint string) (*authorizationTarget, error) {
	if known := c.target.Load(); known != nil && known.endpoint == endpoint {
		return known, nil
	}
	parsed, err := url.Parse(endpoint)
	if err != nil || endpoint == "" {
		return nil, c.config.errorf(" has no authorization endpoint")
	}
	values, fragment := parsed.Query(), parsed.EscapedFragment()
	maps.Copy(values, c.config.Authorization.Params)
	values.Set("response_type", or(values.Get("response_type"), "code"))
	values.Set("client_id", c.config.ClientID)
	if !values.Has("scope") && c.config.Scope != "" {
		values.Set("scope", c.config.Scope)
	}
	parsed.RawQuery, parsed.Fragment, parsed.RawFragment = "", "", ""
	address, err := weburl.Normalise(parsed.String())
	if err != nil {
		return nil, c.config.errorf(": authorization endpoint: %w", err)
	}
	t := &authorizationTarget{endpoint: endpoint, address: address + "?"}
	if fragment != "" {
		t.fragment = "#" + fragment
	}
	for name, all := range values {
		t.params = t.params.withAll(name, all)
	}
	c.target.Store(t)
	return t, nil
}

// parameters are the parameters of a request, each once, sorted by name. Methods that change them return them, so that
// they can be on the stack.
type parameters []parameter

// parameter is a name and its encoded value. Several values are separated by "&name=".
type parameter struct{ name, value string }

// with sets a parameter of core to one value.
func (p parameters) with(name, value string) parameters {
	if unreserved.Lead(value) < len(value) { // not for the state, which is the longest value
		value = url.QueryEscape(value)
	}
	return p.put(name, value)
}

// unreserved are the bytes that need no encoding in a query (RFC 3986 section 2.3).
var unreserved = ascii.SetOf(func(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("-_.~", c) >= 0 })

// withAll sets a parameter to several values. If there are none, it removes the parameter.
func (p parameters) withAll(name string, values []string) parameters {
	name = url.QueryEscape(name)
	if len(values) == 0 {
		return slices.DeleteFunc(p, func(known parameter) bool { return known.name == name })
	}
	escaped := make([]string, len(values))
	for i, value := range values {
		escaped[i] = url.QueryEscape(value)
	}
	return p.put(name, strings.Join(escaped, "&"+name+"="))
}

// put is with for an encoded value.
func (p parameters) put(name, value string) parameters {
	at, known := slices.BinarySearchFunc(p, name, func(one parameter, name string) int {
		return strings.Compare(one.name, name)
	})
	if known {
		p[at].value = value
		return p
	}
	return slices.Insert(p, at, parameter{name, value})
}

// appendTo appends the parameters.
func (p parameters) appendTo(dst []byte) []byte {
	for i := range p {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(append(dst, p[i].name...), '=')
		dst = append(dst, p[i].value...)
	}
	return dst
}

// tooLong is an [ErrURLTooLong] with the length.
type tooLong struct{ error }

// Is reports whether target is ErrURLTooLong.
func (*tooLong) Is(target error) bool { return target == ErrURLTooLong }
