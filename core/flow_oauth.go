package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/internal/exchange"
	"github.com/latchkey-go/latchkey/internal/form"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/oidc"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// oauthFlow signs users in with an OAuth 2.0 or OpenID Connect provider.
type oauthFlow struct {
	*oauthClient
	checks    *checks
	newUserID func(provider, accountID string) (string, error)
	// targets are the origins that may receive callbacks from the redirect proxy (Config.RedirectProxyTargets).
	targets []string
	ends    *logouts
	plugins *plugins
}

// needsToken implements [flow].
func (f *oauthFlow) needsToken() bool { return false }

// start implements [flow]: it sends the browser to the provider (RFC 6749 section 4.1.1, OpenID Connect Core section
// 3.1.2.1).
func (f *oauthFlow) start(ctx context.Context, c *call) (*Response, error) {
	at, err := f.client.StartEndpoints(ctx)
	if err != nil {
		return nil, errorf(ErrAuth, "%w", err)
	}
	redirectURI, returnTo := f.redirectURI(c.origin, c.base)
	flows := f.checks.flowsOf(c)
	flow, err := flows.Start(ctx, f.flowClient(), c.flowStart(returnTo))
	if err != nil {
		return nil, flowError(err)
	}
	request := oauth.AuthorizationRequest{
		RedirectURI: redirectURI, State: flow.State, Nonce: flow.Nonce, Verifier: flow.Verifier,
	}
	if f.sendsLocale(c) {
		request.Further = url.Values{"ui_locales": {or(c.language().Tag, "en")}}
	}
	for name, value := range c.query.Fields() {
		if c.reauth != nil { // a re-authentication has its own parameters
			break
		}
		if request.Further == nil {
			request.Further = url.Values{}
		}
		request.Further.Set(name, value)
	}
	if c.reauth != nil {
		request.Further = f.askToAuthenticate(c.reauth, request.Further)
	}
	address, err := f.client.Authorize(at, request)
	if asksTooMuch := len(c.r.Target) > oauth.MaxAuthorizationURL/4; asksTooMuch && errors.Is(err, oauth.ErrURLTooLong) {
		err = clientError(err) // the parameters of the request are too long
	}
	if err != nil {
		return nil, errorf(ErrAuth, "%w", err)
	}
	response := redirectTo(address)
	if flow.Tag != "" {
		stored, err := flows.Store(flow, f.flowClient(), len(address))
		if err != nil {
			return nil, flowError(err)
		}
		response.Cookies = ownCookies(stored)
	}
	c.debug(ctx, "authorization url is ready")
	return response, nil
}

// askToAuthenticate adds the parameters that make the provider authenticate the user now, whatever session they have
// there (OpenID Connect Core section 3.1.2.1).
func (f *oauthFlow) askToAuthenticate(request *reauthRequest, further url.Values) url.Values {
	if f.Type != TypeOIDC {
		return further
	}
	if further == nil {
		further = url.Values{}
	}
	further.Set("max_age", "0")
	prompt := "login"
	if slices.Contains(noLoginPrompt, f.Issuer) {
		prompt = "select_account"
	}
	values := strings.Fields(f.sentParam("prompt"))
	values = slices.DeleteFunc(values, func(value string) bool { return value == "none" })
	if !slices.Contains(values, prompt) {
		values = append(values, prompt)
	}
	further.Set("prompt", strings.Join(values, " "))
	if request.Hint != "" {
		further.Set("login_hint", request.Hint)
	}
	if len(request.ACR) > 0 {
		further.Set("acr_values", strings.Join(request.ACR, " "))
	}
	return further
}

// sendsLocale reports whether the authorization request contains the user's language: only for OpenID Connect, and if
// the configuration does not set the parameter.
func (f *oauthFlow) sendsLocale(c *call) bool {
	return c.locales != nil && f.Type == TypeOIDC && !f.Authorization.Params.Has("ui_locales")
}

// finish implements [flow]: it handles the provider's callback (RFC 6749 section 4.1.2 to 4.1.4, OpenID Connect Core
// section 3.1.2.5 to 3.1.3.7). The flow's cookies are deleted whatever the result is: a flow is valid for one callback.
func (f *oauthFlow) finish(ctx context.Context, c *call) (out outcome, err error) {
	if f.formPost && c.r.Method == "POST" {
		return f.redirectPost(c)
	}
	params, cookies, err := f.answer(c)
	out.cookies = cookies
	if err != nil {
		return out, err
	}
	if forward, err := f.forwardFromProxy(c, params.Get("state")); err != nil || forward != "" {
		return outcome{response: redirectTo(forward)}, err
	}
	flows := f.checks.flowsOf(c)
	flow, err := flows.Find(f.flowClient(), params.Get("state"))
	if flow != nil {
		out.cookies = append(out.cookies, ownCookies(flow.Clear)...)
	}
	if err != nil {
		return out, flowError(err)
	}
	out.reauth = flow.Reauth
	at, answer, err := f.readAnswer(ctx, params)
	if err != nil {
		return out, err
	}
	started := flowstate.SameSession
	if len(f.Checks) > 0 {
		if started, err = flows.Compare(ctx, flow); err != nil {
			return out, flowError(err)
		}
		out.returnTo = c.flowReturn(ctx, flow)
	}
	if flow.Reauth != nil {
		if err := f.plugins.entry.checkReauthCallback(ctx, c, started, flow.Reauth); err != nil {
			return out, err
		}
	}
	code, err := f.client.Accept(at, answer)
	if err != nil {
		return out, classifyAuthError(err)
	}
	key := c.exchangeKey(flow, params.Get("code"))
	tokens, profile, err := f.exchange(ctx, c, at, code, flow, key)
	if err != nil {
		return out, err
	}
	if user, there := firstConsent(f.oauthClient, params); there {
		profile["user"] = user
	}
	if out.identity, err = identityOf(ctx, f.oauthClient, profile, tokens, f.newUserID); err == nil {
		out.identity.started, out.identity.oauth.exchange = started, key
	}
	return out, err
}

// exchange calls redeem once for all callbacks with the same key. A flow without a tag has no key: Auth.js started it,
// or the provider uses no checks.
func (f *oauthFlow) exchange(
	ctx context.Context, c *call, at oauth.Endpoints, code oauth.Code, flow *flowstate.Flow, key exchange.Key,
) (*TokenSet, Profile, error) {
	if flow.Tag == "" || flow.Reauth != nil { // a re-authentication counts once
		return f.redeem(ctx, c, at, code, flow)
	}
	own := *c // the exchange may outlast the request
	return c.exchangeOnce(ctx, f.checks.exchanges, key, func(ctx context.Context) (*TokenSet, Profile, error) {
		return f.redeem(ctx, &own, at, code, flow)
	})
}

// readAnswer reads the authorization response. It rejects repeated parameters, which an attacker may have added.
func (f *oauthFlow) readAnswer(ctx context.Context, params oauth.Params) (oauth.Endpoints, oauth.Answer, error) {
	at, err := f.client.Endpoints(ctx)
	if err != nil {
		return at, oauth.Answer{}, errorf(ErrAuth, "%w", err).withType(errCallbackRoute)
	}
	answer, err := oauth.ReadAnswer(params)
	if err != nil {
		return at, answer, errorf(errInvalidCheck, "%w", err)
	}
	return at, answer, nil
}

// classifyAuthError maps an authorization error response (RFC 6749 section 4.1.2.1) to an error type and a log level.
func classifyAuthError(err error) error {
	said, ok := errors.AsType[*oauth.AnswerError](err)
	switch {
	case !ok:
		return errorf(errInvalidCheck, "%w", err)
	case said.ByUser():
		err = clientError(err)
	case !said.ByClient():
		err = suspiciousError(err) // the provider is not working, or an attacker made this URL
	}
	return errorf(errOAuthCallback, "%w", err)
}

// redeem exchanges the code for tokens and requests the user's profile.
func (f *oauthFlow) redeem(
	ctx context.Context, c *call, at oauth.Endpoints, code oauth.Code, flow *flowstate.Flow,
) (*TokenSet, Profile, error) {
	redirectURI, _ := f.redirectURI(c.origin, c.base)
	answered, err := f.client.Redeem(ctx, at, code, flow.Verifier, redirectURI)
	switch {
	case errors.Is(err, oauth.ErrNoCode):
		return nil, nil, errorf(errCallbackRoute, "%w", clientError(err))
	case errors.Is(err, oauth.ErrInvalidGrant): // used before, by another process or a lost request
		return nil, nil, callbackErrorf(errCallbackRoute, reasonUsed, "%w", suspiciousError(err))
	case err != nil:
		return nil, nil, errorf(errCallbackRoute, "%w", err)
	}
	tokens := f.tokenSet(answered)
	c.debugTokens(ctx, tokens)
	if f.Type == TypeOIDC {
		claims, err := f.client.VerifyIDToken(ctx, at, answered, flow.Nonce)
		if err != nil {
			return nil, nil, errorf(errCallbackRoute, "%w", err)
		}
		tokens.Claims = claims
		if !f.ProfileFromUserinfo {
			return tokens, f.completedClaims(ctx, c, at, tokens), nil
		}
	}
	profile, err := f.userinfo(ctx, at, tokens)
	return tokens, profile, err
}

// debugTokens logs the names of the members of a token response, and no values.
func (v *arrival) debugTokens(ctx context.Context, t *TokenSet) {
	if !v.log.debugging {
		return
	}
	members := slices.Collect(maps.Keys(t.Extra))
	for name, there := range map[string]bool{
		"access_token": t.AccessToken != "", "refresh_token": t.RefreshToken != "", "id_token": t.IDToken != "",
		"token_type": t.TokenType != "", "scope": t.Scope != "", "expires_in": !t.ExpiresAt.IsZero(),
	} {
		if there {
			members = append(members, name)
		}
	}
	slices.Sort(members)
	v.debug(ctx, "token response", slog.Any("members", members))
}

// userinfo returns the profile from the userinfo endpoint or from the provider's FetchUserinfo.
func (o *oauthClient) userinfo(ctx context.Context, at oauth.Endpoints, tokens *TokenSet) (profile Profile, err error) {
	if o.FetchUserinfo == nil {
		profile, err = o.client.Userinfo(ctx, at, string(tokens.AccessToken))
	} else {
		profile, err = o.fetchUserinfo(ctx, at, tokens)
	}
	if err != nil {
		return nil, errorf(errCallbackRoute, "%w", tokens.hide(err))
	}
	if o.Type == TypeOIDC && profile.Text("sub") != tokens.Claims.Text("sub") {
		return nil, errorf(errCallbackRoute,
			"provider %q: userinfo is about another subject than the ID token (OpenID Connect Core section 5.3.2)", o.ID)
	}
	return profile, nil
}

// fetchUserinfo calls the provider's FetchUserinfo.
func (o *oauthClient) fetchUserinfo(ctx context.Context, at oauth.Endpoints, tokens *TokenSet) (Profile, error) {
	target, err := o.client.UserinfoURL(at)
	if err != nil {
		return nil, err
	}
	profile, err := guarded("FetchUserinfo", func() (Profile, error) {
		return o.FetchUserinfo(ctx, &UserinfoRequest{Tokens: tokens, URL: target})
	})
	if err == nil && profile == nil {
		err = errors.New("the response has no profile")
	}
	if err != nil {
		return nil, fmt.Errorf("provider %q: userinfo: %w", o.ID, err)
	}
	return profile, nil
}

// firstConsent returns the user field that Apple posts together with the code, only at the first sign-in. It contains
// the user's name.
func firstConsent(c *oauthClient, answer oauth.Params) (Profile, bool) {
	raw := answer.Get("user")
	if !c.formPost || raw == "" {
		return nil, false
	}
	user, err := decodeProfile([]byte(raw))
	return user, err == nil
}

// forwardFromProxy returns the URL of the deployment that started the flow, if this deployment is the redirect proxy
// and must forward the callback there (docs/protocol.md §8.10). It returns an empty URL if there is nothing to forward.
// The origin must be listed in RedirectProxyTargets: an attacker who receives code and state could sign in with them.
func (f *oauthFlow) forwardFromProxy(c *call, state string) (string, error) {
	if f.proxyURL == "" || !f.onProxy(c.origin) || state == "" {
		return "", nil
	}
	claims, err := f.checks.Open(f.checks.State, state)
	if err != nil {
		return "", errorf(errInvalidCheck, "state at the redirect proxy: %w", err)
	}
	target := claims.Extra.Text("origin")
	if target == "" {
		return "", nil
	}
	origin, _, err := weburl.ParseOrigin(target)
	if err != nil || !origin.Listed(f.targets) {
		return "", errorf(errInvalidCheck, "the state names an origin that RedirectProxyTargets does not list")
	}
	var pairs []string
	for name, value := range c.query.Fields() {
		pairs = append(pairs, name, value)
	}
	return weburl.AddQuery(target, pairs...)
}

// redirectURI returns the redirect URI of the authorization request: a URL below base, or that of the redirect proxy.
// The proxy forwards the callback to returnTo.
func (o *oauthClient) redirectURI(origin, base string) (uri, returnTo string) {
	own := base + "/callback/" + o.ID
	if o.proxyURL == "" || o.onProxy(origin) {
		return own, ""
	}
	return o.proxyURL + "/callback/" + o.ID, own
}

// onProxy reports whether the deployment at this origin is the redirect proxy itself.
func (o *oauthClient) onProxy(origin string) bool {
	proxy, _, err := weburl.ParseOrigin(o.proxyURL)
	return err == nil && proxy.String() == origin
}

// A provider with response_mode=form_post answers with a POST from its own site. Any website can send such a POST, and
// the browser leaves the SameSite=Lax cookies out of it: the session and the CSRF token. So the POST decides nothing.
// It encrypts the answer into a cookie that is named after the flow, and redirects to the same address by GET. The
// browser sends all its cookies with the GET, which decides (docs/protocol.md §8.9). No code is in a URL, and no script
// is needed.

// maxFormAnswer is the maximum total size of the parameters, in bytes: they must fit into one cookie.
const maxFormAnswer = 1800

var answerParams = []string{"code", "state", "iss", "error", "error_description", "user"}

// formAnswer contains the parameters of a form_post callback. No parameter is repeated. It implements [oauth.Params].
type formAnswer map[string]string

// Get implements [oauth.Params].
func (p formAnswer) Get(name string) string { return p[name] }

// Count implements [oauth.Params].
func (p formAnswer) Count(name string) int {
	if _, there := p[name]; there {
		return 1
	}
	return 0
}

// redirectPost answers a cross-site form_post callback with a redirect. The browser sends SameSite=Lax cookies with the
// GET request that follows. A callback of no pending flow of this browser is dropped.
func (f *oauthFlow) redirectPost(c *call) (outcome, error) {
	out := outcome{withoutCookies: true, response: redirectTo(c.base + "/callback/" + f.ID)}
	answer, err := f.readPost(c.fields)
	if err != nil {
		return out, err
	}
	key, stored, err := f.checks.flowsOf(c).StoreAnswer(f.flowClient(), answer)
	switch {
	case errors.Is(err, flowstate.ErrNoFlow), errors.Is(err, flowstate.ErrOtherState):
		return out, nil // the GET finds out, and has the user's session
	case err != nil:
		return out, flowError(err)
	}
	out.cookies = []Cookie{Cookie(stored)}
	out.response.Redirect += "?flow=" + key
	return out, nil
}

// readPost reads the answer in a form.
func (f *oauthFlow) readPost(fields form.Fields) (formAnswer, error) {
	answer, size := formAnswer{}, 0
	for _, name := range answerParams {
		if fields.Count(name) > 1 {
			return nil, errorf(errInvalidCheck, "provider %q: the callback has %s %d times", f.ID, name, fields.Count(name))
		}
		if value, there := fields.Text(name); there {
			answer[name] = value
			size += len(value)
		}
	}
	if size > maxFormAnswer {
		return nil, errorf(errOAuthCallback, "provider %q: the callback has %d bytes, which do not fit into a cookie",
			f.ID, size)
	}
	return answer, nil
}

// answer returns the parameters of the provider's answer, and the cookies that delete the one that stores them. They
// are in the query, or with form_post in the cookie of the preceding POST.
func (f *oauthFlow) answer(c *call) (oauth.Params, []Cookie, error) {
	if !f.formPost {
		return c.query, nil, nil
	}
	answer, deletion, err := f.checks.flowsOf(c).FindAnswer(f.flowClient(), c.query.Get("flow"))
	if err != nil {
		return nil, nil, flowError(err)
	}
	return formAnswer(answer), []Cookie{Cookie(deletion)}, nil
}

// completedClaims returns the claims of the ID token. If name and email were requested but the ID token has neither, it
// adds the claims of the userinfo endpoint: OpenID Connect Core section 5.4 lets a provider return the claims of scopes
// only there, and several do. The sign-in does not depend on the response.
func (f *oauthFlow) completedClaims(ctx context.Context, c *call, at oauth.Endpoints, tokens *TokenSet) Profile {
	claims := tokens.Claims
	if claims.First("name", "email") != "" || !f.client.HasUserinfo(at) || !f.requestedProfile(tokens) {
		return claims
	}
	ctx, cancel := context.WithTimeout(ctx, optionalUserinfo)
	defer cancel()
	userinfo, err := f.userinfo(ctx, at, tokens)
	if err != nil {
		c.log.logger.LogAttrs(ctx, slog.LevelWarn, "auth: the ID token has no name and no email, and userinfo failed",
			append(c.attrs(), slog.String("provider", f.ID), slog.Any("error", err))...)
		return claims
	}
	return oidc.WithUserinfo(claims, userinfo)
}
