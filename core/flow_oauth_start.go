package core

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net/url"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/core/internal/oidc"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// ours are the parameters of the authorization request that the flow itself decides. A caller's query can add to the request
// (prompt, login_hint, scope, …) but never replace these, nor hand the provider our own callback URL.
var ours = map[string]bool{
	"client_id": true, "redirect_uri": true, "response_type": true, "response_mode": true, "state": true, "nonce": true,
	"code_challenge": true, "code_challenge_method": true, "request": true, "request_uri": true, "callbackUrl": true, "csrfToken": true,
}

// maxAuthorizationURL is what fits into the request line of common servers.
const maxAuthorizationURL = 8 << 10

// startOAuth sends the browser to the provider (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1).
func (x *exchange) startOAuth(ctx context.Context, c *oauthClient) (*Response, error) {
	endpoints, err := x.endpoints(ctx, c, false)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(endpoints.authorization)
	if err != nil || endpoints.authorization == "" {
		return nil, errorf(AuthError, "provider %q has no authorization endpoint", c.ID)
	}
	params := target.Query()
	for name, values := range c.Authorization.Params {
		params[name] = values
	}
	for name, value := range x.query.Fields() {
		if !ours[name] {
			params.Set(name, value)
		}
	}
	params.Set("response_type", or(params.Get("response_type"), "code"))
	params.Set("client_id", c.ClientID)
	redirectURI, returnTo := x.redirectURI(c)
	params.Set("redirect_uri", redirectURI)
	if !params.Has("scope") && c.scope != "" {
		params.Set("scope", c.scope)
	}
	response := &Response{}
	if err := x.addChecks(ctx, c, params, returnTo, response); err != nil {
		return nil, err
	}
	fragment := target.EscapedFragment()
	target.RawQuery, target.Fragment, target.RawFragment = "", "", ""
	address, err := weburl.Normalise(target.String())
	if err != nil {
		return nil, errorf(AuthError, "provider %q: authorization endpoint: %w", c.ID, err)
	}
	response.Redirect = address + "?" + params.Encode()
	if fragment != "" {
		response.Redirect += "#" + fragment
	}
	if len(response.Redirect) > maxAuthorizationURL {
		return nil, errorf(AuthError, "provider %q: the authorization URL has %d bytes: services and browsers take %d", c.ID, len(response.Redirect), maxAuthorizationURL)
	}
	x.debug(ctx, "authorization url is ready", slog.String("provider", c.ID))
	return response, nil
}

// redirectURI is where the provider sends the browser back to: ours, or that of the redirect proxy, which then needs to know
// where to go on to.
func (x *exchange) redirectURI(c *oauthClient) (uri, returnTo string) {
	own := x.base() + "/callback/" + c.ID
	if c.proxyURL == "" || x.onProxy(c) {
		return own, ""
	}
	return c.proxyURL + "/callback/" + c.ID, own
}

// onProxy tells whether this deployment is the redirect proxy itself.
func (x *exchange) onProxy(c *oauthClient) bool {
	proxy, _, err := weburl.ParseOrigin(c.proxyURL)
	return err == nil && proxy.String() == x.origin
}

// addChecks makes the values that tie the answer to this request, and the cookies that remember them.
func (x *exchange) addChecks(ctx context.Context, c *oauthClient, params url.Values, returnTo string, response *Response) error {
	by, err := x.startedBy(ctx)
	if err != nil {
		return err
	}
	if c.checks(CheckState) || len(c.Checks) > 0 && x.underway() { // answers to two tabs are told apart by their state
		state, err := x.newState(returnTo)
		if err != nil {
			return err
		}
		params.Set("state", state)
		x.flow = flowName(state)
		if c.checks(CheckState) {
			if err := x.rememberCheck(c, CheckState, state, by, response); err != nil {
				return err
			}
		}
	}
	if c.checks(CheckPKCE) {
		verifier, err := x.randomText()
		if err != nil {
			return err
		}
		params.Set("code_challenge", oauth2.S256ChallengeFromVerifier(verifier)) // S256 whatever the provider advertises
		params.Set("code_challenge_method", "S256")
		if err := x.rememberCheck(c, CheckPKCE, verifier, by, response); err != nil {
			return err
		}
	}
	if c.checks(CheckNonce) {
		nonce, err := x.randomText()
		if err != nil {
			return err
		}
		params.Set("nonce", nonce)
		if err := x.rememberCheck(c, CheckNonce, nonce, by, response); err != nil {
			return err
		}
	}
	return nil
}

// randomText returns 256 random bits as 43 characters of base64url: a code verifier (RFC 7636 section 4.1), a nonce.
func (a *Auth) randomText() (string, error) {
	b, err := a.random(32)
	return base64.RawURLEncoding.EncodeToString(b), err
}

// newState makes the state parameter: sealed, as it carries the address to return to when a redirect proxy is in between.
func (x *exchange) newState(returnTo string) (string, error) {
	random, err := x.randomText()
	if err != nil {
		return "", err
	}
	claims := &Token{}
	if returnTo != "" {
		_ = claims.Extra.Set("origin", returnTo)
	}
	_ = claims.Extra.Set("random", random)
	return x.sealClaims(x.state, claims, checkTTL)
}

// endpoints are a provider's addresses, as configured or discovered.
type endpoints struct {
	authorization, token, userinfo string
	metadata                       *oidc.Metadata // nil: nothing was discovered
}

// endpoints completes the configured endpoints from the issuer's metadata, which is cached; it is not asked for when the
// configuration says everything that this step needs.
func (a *Auth) endpoints(ctx context.Context, c *oauthClient, redeeming bool) (endpoints, error) {
	e := endpoints{authorization: c.Authorization.URL, token: c.Token.URL, userinfo: c.Userinfo.URL}
	needed := c.Type == TypeOIDC && (redeeming || e.authorization == "") || c.Type == TypeOAuth && c.Issuer != "" && (e.authorization == "" || e.token == "" || e.userinfo == "" && c.FetchUserinfo == nil)
	if !needed {
		return e, nil
	}
	m, err := a.docsOf(c).Metadata(ctx, c.Issuer)
	if err != nil {
		return e, errorf(AuthError, "provider %q: discovery: %w", c.ID, err)
	}
	e.metadata = m
	e.authorization = or(e.authorization, m.AuthorizationEndpoint)
	e.token = or(e.token, m.TokenEndpoint)
	e.userinfo = or(e.userinfo, m.UserinfoEndpoint)
	return e, nil
}
