package core

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/url"
	"slices"

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
	f, sent, err := x.addChecks(ctx, c, params, returnTo)
	if err != nil {
		return nil, err
	}
	response := &Response{}
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
		err := fmt.Errorf("provider %q: the authorization URL has %d bytes: services and browsers take %d", c.ID, len(response.Redirect), maxAuthorizationURL)
		if len(x.r.Target) > maxAuthorizationURL/4 { // the visitor's own parameters
			err = mistake(err)
		}
		return nil, errorf(AuthError, "%w", err)
	}
	if len(sent) > 0 {
		if response.Cookies, err = x.remember(f, sent, len(response.Redirect)); err != nil {
			return nil, err
		}
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

// addChecks makes the values that tie the answer to this request. Code verifier and nonce are derived from the state, so that the
// cookies need not hold those of every flow.
func (x *exchange) addChecks(ctx context.Context, c *oauthClient, params url.Values, returnTo string) (f flow, sent []sentCheck, err error) {
	if len(c.Checks) == 0 {
		return f, nil, nil
	}
	if f.Who, err = x.who(ctx); err != nil {
		return f, nil, err
	}
	if returnTo != "" { // the redirect proxy may share this site's name and set a CSRF cookie of its own
		f.Who = f.by() + "."
	}
	key, seed := x.flowKeys[0], ""
	if c.checks(CheckState) || x.underway() { // answers to two tabs are told apart by their state
		if seed, err = x.newState(returnTo); err != nil {
			return f, nil, err
		}
		params.Set("state", seed)
		f.Tag = flowHash(key, "state", seed)[:tagLength]
	} else {
		if seed, err = x.randomText(); err != nil {
			return f, nil, err
		}
		f.Kept = seed
	}
	if f.FormPost = c.formPost; f.FormPost {
		x.rememberReturn(&f)
	}
	for _, k := range allChecks {
		if !c.checks(k) {
			continue
		}
		value := seed
		if k != CheckState {
			value = checkValue(key, k, seed)
		}
		switch k {
		case CheckPKCE:
			params.Set("code_challenge", oauth2.S256ChallengeFromVerifier(value)) // S256 whatever the provider advertises
			params.Set("code_challenge_method", "S256")
		case CheckNonce:
			params.Set("nonce", value)
		}
		sent = append(sent, sentCheck{k, value})
	}
	return f, sent, nil
}

// underway tells whether another flow with this provider is pending.
func (x *exchange) underway() bool {
	pending := x.pendingFlows()
	return slices.ContainsFunc(pending.all(), func(f flow) bool { return f.Provider == x.provider.id })
}

// randomText returns 256 random bits as 43 characters of base64url: a code verifier (RFC 7636 section 4.1), a nonce.
func (a *Auth) randomText() (string, error) {
	b, err := a.random(32)
	return base64.RawURLEncoding.EncodeToString(b), err
}

// newState makes the state parameter: sealed, as it carries the address to return to when a redirect proxy is in between. Nobody
// opens one without such an address, so it names no key: it is in the authorization URL, in the answer and in a cookie.
func (x *exchange) newState(returnTo string) (string, error) {
	random, err := x.randomText()
	if err != nil {
		return "", err
	}
	claims := &Token{}
	_ = claims.Extra.Set("random", random)
	if returnTo == "" {
		return x.sealUnnamed(x.state, claims, checkTTL)
	}
	_ = claims.Extra.Set("origin", returnTo)
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
		return e, errorf(AuthError, "provider %q: discovery: %w: check that the service is up, that this machine reaches it, and Issuer (%s)", c.ID, err, EnvName(c.ID, "ISSUER"))
	}
	e.metadata = m
	e.authorization = or(e.authorization, m.AuthorizationEndpoint)
	e.token = or(e.token, m.TokenEndpoint)
	e.userinfo = or(e.userinfo, m.UserinfoEndpoint)
	return e, nil
}
