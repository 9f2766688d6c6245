package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/latchkey-go/latchkey/core/internal/form"
	"github.com/latchkey-go/latchkey/core/internal/oauth"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// startOAuth sends the browser to the provider (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2.1).
func (x *exchange) startOAuth(ctx context.Context, c *oauthClient) (*Response, error) {
	at, err := c.client.StartEndpoints(ctx)
	if err != nil {
		return nil, errorf(AuthError, "%w", err)
	}
	redirectURI, returnTo := c.redirectURI(x.origin, x.base())
	request := oauth.AuthorizationRequest{RedirectURI: redirectURI, Further: url.Values{}}
	for name, value := range x.query.Fields() {
		request.Further.Set(name, value)
	}
	f, sent, err := x.addChecks(ctx, c, &request, returnTo)
	if err != nil {
		return nil, err
	}
	response := &Response{}
	response.Redirect, err = c.client.Authorize(at, request)
	if asksTooMuch := len(x.r.Target) > oauth.MaxAuthorizationURL/4; asksTooMuch && errors.Is(err, oauth.ErrURLTooLong) {
		err = mistake(err) // the visitor's own parameters
	}
	if err != nil {
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

// finishOAuth takes the provider's answer (RFC 6749 section 4.1.2 to 4.1.4, OpenID Connect Core section 3.1.2.5 to
// 3.1.3.7). The check cookies are cleared on every way out: a check is good for one attempt.
func (x *exchange) finishOAuth(ctx context.Context, c *oauthClient, response *Response) (*identity, error) {
	if forward, err := x.forwardFromProxy(c, x.answerOf(c).Get("state")); err != nil || forward != "" {
		response.Redirect = forward
		return nil, err
	}
	resumed, err := x.hopped(c)
	params := x.answerOf(c) // a hop brings it along
	if resumed == nil {
		resumed, err = x.resume(c, params.Get("state"))
	}
	response.Cookies = resumed.cookies
	if err != nil {
		return nil, err
	}
	at, err := c.client.Endpoints(ctx)
	if err != nil {
		return nil, errorf(AuthError, "%w", err).under(CallbackRouteError)
	}
	answer, err := c.client.ReadAnswer(params)
	if err != nil {
		return nil, errorf(InvalidCheck, "%w", err)
	}
	if err := resumed.checkState(ctx); err != nil {
		return nil, err
	}
	if again, err := resumed.needsHop(ctx); err != nil {
		return nil, err
	} else if again {
		return nil, x.hopOn(resumed, response)
	}
	x.restoreReturn(resumed.flow)
	code, err := c.client.Accept(at, answer)
	if err != nil {
		return nil, notAccepted(err)
	}
	tokens, profile, err := x.redeem(ctx, c, at, code, resumed)
	if err != nil {
		return nil, err
	}
	if user, there := firstConsent(c, params); there {
		profile["user"] = user
	}
	return identityOf(ctx, c, profile, tokens, x.newUserID)
}

// notAccepted gives what an answer says instead of a code its type and level.
func notAccepted(err error) error {
	said, ok := errors.AsType[*oauth.AnswerError](err)
	switch {
	case !ok:
		return errorf(InvalidCheck, "%w", err)
	case said.ByVisitor():
		err = mistake(err)
	case !said.ByClient():
		err = suspicion(err) // the provider is out of order or, as anybody can write the address, a stranger says so
	}
	return errorf(OAuthCallbackError, "%w", err)
}

// redeem exchanges the code for tokens and finds whom they belong to.
func (x *exchange) redeem(
	ctx context.Context, c *oauthClient, at oauth.Endpoints, code oauth.Code, r *resumed,
) (*TokenSet, Profile, error) {
	verifier, err := r.value(CheckPKCE)
	if err != nil {
		return nil, nil, err
	}
	redirectURI, _ := c.redirectURI(x.origin, x.base())
	answered, err := c.client.Redeem(ctx, at, code, verifier, redirectURI)
	switch {
	case errors.Is(err, oauth.ErrNoCode):
		return nil, nil, errorf(CallbackRouteError, "%w", mistake(err))
	case err != nil:
		return nil, nil, errorf(CallbackRouteError, "%w", err)
	}
	tokens := c.tokenSet(answered)
	if c.Type == TypeOIDC {
		nonce, err := r.value(CheckNonce)
		if err != nil {
			return nil, nil, err
		}
		claims, err := c.client.VerifyIDToken(ctx, at, answered, nonce)
		if err != nil {
			return nil, nil, errorf(CallbackRouteError, "%w", err)
		}
		tokens.Claims = claims
		if !c.ProfileFromUserinfo {
			return tokens, claims, nil
		}
	}
	profile, err := c.userinfo(ctx, at, tokens)
	return tokens, profile, err
}

// userinfo is the profile that the userinfo endpoint, or the application's own function, has for the tokens.
func (c *oauthClient) userinfo(ctx context.Context, at oauth.Endpoints, tokens *TokenSet) (profile Profile, err error) {
	if c.FetchUserinfo == nil {
		profile, err = c.client.Userinfo(ctx, at, string(tokens.AccessToken))
	} else {
		profile, err = c.fetchUserinfo(ctx, at, tokens)
	}
	if err != nil {
		return nil, errorf(CallbackRouteError, "%w", tokens.hide(err))
	}
	if c.Type == TypeOIDC && profile.Text("sub") != tokens.Claims.Text("sub") {
		return nil, errorf(CallbackRouteError,
			"provider %q: userinfo is about another subject than the ID token (OpenID Connect Core section 5.3.2)", c.ID)
	}
	return profile, nil
}

// fetchUserinfo lets the provider's own function ask.
func (c *oauthClient) fetchUserinfo(ctx context.Context, at oauth.Endpoints, tokens *TokenSet) (Profile, error) {
	target, err := c.client.UserinfoURL(at)
	if err != nil {
		return nil, err
	}
	profile, err := guarded("FetchUserinfo", func() (Profile, error) {
		return c.FetchUserinfo(ctx, &UserinfoRequest{Tokens: tokens, URL: target})
	})
	if err == nil && profile == nil {
		err = errors.New("the answer has no profile")
	}
	if err != nil {
		return nil, fmt.Errorf("provider %q: userinfo: %w", c.ID, err)
	}
	return profile, nil
}

// answerOf returns the parameters of the provider's answer: those of the query or, under response_mode=form_post, of
// the body, which may have come on by a hop.
func (x *exchange) answerOf(c *oauthClient) oauth.Params {
	switch {
	case !c.formPost:
		return x.query
	case x.answered != nil:
		return hoppedAnswer(x.answered)
	}
	return postedAnswer(x.fields)
}

// postedAnswer are the fields of a form_post answer.
type postedAnswer form.Fields

// Get implements [oauth.Params].
func (p postedAnswer) Get(name string) string { s, _ := form.Fields(p).Text(name); return s }

// Count implements [oauth.Params].
func (p postedAnswer) Count(name string) int { return form.Fields(p).Count(name) }

// hoppedAnswer are the fields of a form_post answer that came on by a hop.
type hoppedAnswer map[string]string

// Get implements [oauth.Params].
func (p hoppedAnswer) Get(name string) string { return p[name] }

// Count implements [oauth.Params].
func (p hoppedAnswer) Count(name string) int {
	if _, there := p[name]; there {
		return 1
	}
	return 0
}

// firstConsent is the user field that Apple posts beside the code, once: the name that it never tells again.
func firstConsent(c *oauthClient, answer oauth.Params) (Profile, bool) {
	raw := answer.Get("user")
	if !c.formPost || raw == "" {
		return nil, false
	}
	user, err := decodeProfile([]byte(raw))
	return user, err == nil
}

// forwardFromProxy sends an answer on to the deployment that started the flow, when this one is the redirect proxy and
// knows the deployment. Code and state go to listed origins alone.
func (x *exchange) forwardFromProxy(c *oauthClient, state string) (string, error) {
	if c.proxyURL == "" || !c.onProxy(x.origin) || state == "" {
		return "", nil
	}
	claims, err := x.openClaims(x.state, state)
	if err != nil {
		return "", errorf(InvalidCheck, "state at the redirect proxy: %w", err)
	}
	target := claims.Extra.Text("origin")
	if target == "" {
		return "", nil
	}
	origin, _, err := weburl.ParseOrigin(target)
	if err != nil || !origin.Listed(x.forwardTo) {
		return "", errorf(InvalidCheck, "the state names an origin that ProxyTargets does not list")
	}
	var pairs []string
	for name, value := range x.query.Fields() {
		pairs = append(pairs, name, value)
	}
	return weburl.AddQuery(target, pairs...)
}

// redirectURI is where the provider sends the browser back to: ours, below base, or that of the redirect proxy, which
// then needs to know where to go on to.
func (c *oauthClient) redirectURI(origin, base string) (uri, returnTo string) {
	own := base + "/callback/" + c.ID
	if c.proxyURL == "" || c.onProxy(origin) {
		return own, ""
	}
	return c.proxyURL + "/callback/" + c.ID, own
}

// onProxy reports whether the deployment at an origin is the redirect proxy itself.
func (c *oauthClient) onProxy(origin string) bool {
	proxy, _, err := weburl.ParseOrigin(c.proxyURL)
	return err == nil && proxy.String() == origin
}
