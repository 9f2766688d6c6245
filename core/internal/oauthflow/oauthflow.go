// Package oauthflow signs users in with an OAuth 2.0, OpenID Connect or OAuth 1.0a provider. It connects the protocol
// client (package oauth) with the browser's pending flows (package flowstate).
//
// [Flow.Start] redirects the browser to the provider. At the callback, [Flow.Read] finds the flow that the browser has
// started, and [Flow.Complete] exchanges the code and requests the profile. Between the two, the caller may refuse the
// callback without using up the code.
package oauthflow

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// Flow signs users in with one provider. It must not change after its first use.
type Flow struct {
	// Client is the protocol client, or Client1 for OAuth 1.0a.
	Client  *oauth.Observed
	Client1 *oauth.Observed1
	// Provider is what pending flows need to know of the provider.
	Provider flowstate.Client
	// OpenID means that the provider uses OpenID Connect. Issuer is its issuer identifier.
	OpenID bool
	Issuer string
	// Authorization is the configured authorization endpoint, and Scope the scope that is sent without a parameter there.
	Authorization oauth.Endpoint
	Scope         string
	// ProfileFromUserinfo means that the profile of an OpenID Connect provider is the userinfo response.
	ProfileFromUserinfo bool
	// ProxyURL is the URL of the redirect proxy without a trailing slash. It is empty if there is none. If this deployment
	// is the proxy, it forwards callbacks to ProxyTargets only.
	ProxyURL     string
	ProxyTargets []string
	// Exchanges has the results of the last callbacks.
	Exchanges *Exchanges
}

// Request is the request that starts a sign-in.
type Request struct {
	Browser *flowstate.Browser
	// Origin is the public origin of the request, and Base the URL of the auth routes there.
	Origin, Base string
	Start        flowstate.Start
	// Query contains further parameters of the authorization request. A re-authentication does not use it.
	Query weburl.Params
	// TargetSize is the length of the request target in bytes.
	TargetSize int
	// Locale is the language tag to send. It may be empty.
	Locale string
}

// Start returns the authorization URL for the browser (RFC 6749 section 4.1.1, OpenID Connect Core section
// 3.1.2.1, RFC 5849 section 2.1 and 2.2), and the cookies that store the flow.
func (f *Flow) Start(ctx context.Context, r *Request) (address string, stored []cookie.Cookie, err error) {
	if f.Client1 != nil {
		return f.start1(ctx, r)
	}
	at, err := f.Client.StartEndpoints(ctx)
	if err != nil {
		return "", nil, autherr.New(autherr.Auth, err)
	}
	redirectURI, returnTo := f.redirectURI(r.Origin, r.Base)
	start := r.Start
	start.ReturnTo = returnTo
	flow, err := r.Browser.Start(ctx, &f.Provider, start)
	if err != nil {
		return "", nil, err
	}
	address, err = f.Client.Authorize(at, oauth.AuthorizationRequest{
		RedirectURI: redirectURI, State: flow.State, Nonce: flow.Nonce, Verifier: flow.Verifier, Further: f.further(r),
	})
	if err != nil {
		if errors.Is(err, oauth.ErrURLTooLong) && r.TargetSize > oauth.MaxAuthorizationURL/4 {
			err = errormarks.ByClient(err) // the parameters of the request are too long
		}
		return "", nil, autherr.New(autherr.Auth, err)
	}
	if flow.Tag != "" {
		stored, err = r.Browser.Store(flow, &f.Provider, len(address))
	}
	return address, stored, err
}

// further returns the parameters of the authorization request that are not configured.
func (f *Flow) further(r *Request) url.Values {
	further := url.Values{}
	if r.Locale != "" && f.OpenID && !f.Authorization.Params.Has("ui_locales") {
		further.Set("ui_locales", r.Locale)
	}
	if r.Start.Reauth != nil {
		f.askToAuthenticate(r.Start.Reauth, further)
		return further
	}
	for name, value := range r.Query.Fields() {
		further.Set(name, value)
	}
	return further
}

// noLoginPrompt are the issuers that reject prompt=login as an unknown value. They support prompt=select_account only.
var noLoginPrompt = []string{"https://accounts.google.com"}

// askToAuthenticate adds the parameters that make the provider authenticate the user now, whatever session they have
// there (OpenID Connect Core section 3.1.2.1).
func (f *Flow) askToAuthenticate(request *flowstate.Reauth, further url.Values) {
	if !f.OpenID {
		return
	}
	further.Set("max_age", "0")
	prompt := "login"
	if slices.Contains(noLoginPrompt, f.Issuer) {
		prompt = "select_account"
	}
	values := strings.Fields(f.Authorization.Param("prompt"))
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
}

// AuthenticatesAgain reports whether the provider can authenticate the user of a session again, and whether it can show
// it: by the claim auth_time, or because it asks for credentials at every sign-in, which always means. A flow without
// checks has no cookie that could contain the request. Google sends auth_time only to verified applications that
// request the claim (OpenID Connect Core section 5.5). Without the request, shows is false.
func (f *Flow) AuthenticatesAgain(always bool) (can, shows bool) {
	can = f.Client1 == nil && len(f.Provider.Checks) > 0 && (f.OpenID || always)
	shows = always || !slices.Contains(noLoginPrompt, f.Issuer) ||
		strings.Contains(f.Authorization.Param("claims"), "auth_time")
	return can, can && shows
}

// redirectURI returns the redirect URI of the authorization request: a URL below base, or that of the redirect proxy.
// The proxy forwards the callback to returnTo.
func (f *Flow) redirectURI(origin, base string) (uri, returnTo string) {
	own := base + "/callback/" + f.Provider.ID
	if f.ProxyURL == "" || f.onProxy(origin) {
		return own, ""
	}
	return f.ProxyURL + "/callback/" + f.Provider.ID, own
}

// onProxy reports whether the deployment at this origin is the redirect proxy itself.
func (f *Flow) onProxy(origin string) bool {
	proxy, _, err := weburl.ParseOrigin(f.ProxyURL)
	return err == nil && proxy.String() == origin
}

var errUnlistedOrigin = errors.New("the state names an origin that RedirectProxyTargets does not list")

// forwardFromProxy returns the URL of the deployment that started the flow, if this deployment is the redirect proxy
// and must forward the callback there (docs/protocol.md §8.10). It returns an empty URL if there is nothing to forward.
// The origin must be listed in ProxyTargets: an attacker who receives code and state could sign in with them.
func (f *Flow) forwardFromProxy(r *CallbackRequest) (string, error) {
	state := r.Query.Get("state")
	if f.ProxyURL == "" || !f.onProxy(r.Origin) || state == "" {
		return "", nil
	}
	claims, err := r.Browser.Open(r.Browser.State, state)
	if err != nil {
		return "", autherr.Errorf(autherr.InvalidCheck, "state at the redirect proxy: %w", err)
	}
	target := claims.Extra.Text("origin")
	if target == "" {
		return "", nil
	}
	origin, _, err := weburl.ParseOrigin(target)
	if err != nil || !origin.Listed(f.ProxyTargets) {
		return "", autherr.New(autherr.InvalidCheck, errUnlistedOrigin)
	}
	var pairs []string
	for name, value := range r.Query.Fields() {
		pairs = append(pairs, name, value)
	}
	return weburl.AddQuery(target, pairs...)
}
