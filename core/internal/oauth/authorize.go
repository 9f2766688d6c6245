package oauth

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/core/internal/ascii"
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
	if r.Verifier != "" { // S256 whatever the provider advertises
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

// redirectURI is a redirect URI, and what it is in a query.
type redirectURI struct{ address, escaped string }

// inQuery is a redirect URI as a query has it. A provider has one on each host that the application is known by, and
// most are known by one.
func (c *Client) inQuery(address string) string {
	if known := c.redirect.Load(); known != nil && known.address == address {
		return known.escaped
	}
	r := &redirectURI{address, url.QueryEscape(address)}
	c.redirect.Store(r)
	return r.escaped
}

// authorizationTarget is an authorization endpoint taken apart, once: what is the same in all its requests.
type authorizationTarget struct {
	endpoint string // as configured or discovered
	// address is that of the endpoint up to the question mark, fragment what comes behind the parameters.
	address, fragment string
	params            parameters
}

// authorization takes an endpoint apart. A provider has one: another one takes its place when discovery says so.
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

// parameters are those of a request, each once, ordered by name. What changes them returns them, so that they can lie
// on the stack.
type parameters []parameter

// parameter is a name and its value as a query has them; several values have "&name=" between.
type parameter struct{ name, value string }

// with gives a parameter of ours a value in place of those it has.
func (p parameters) with(name, value string) parameters {
	if unreserved.Lead(value) < len(value) { // which no state has, the longest of them
		value = url.QueryEscape(value)
	}
	return p.put(name, value)
}

// unreserved are the bytes that a query has as they are (RFC 3986 section 2.3).
var unreserved = ascii.SetOf(func(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("-_.~", c) >= 0 })

// withAll gives a parameter several values in place of those it has; none: it takes the parameter out.
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

// put is with for a value that is as a query has it.
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

// tooLong is an [ErrURLTooLong] that says how long.
type tooLong struct{ error }

// Is reports whether target is ErrURLTooLong.
func (*tooLong) Is(target error) bool { return target == ErrURLTooLong }
