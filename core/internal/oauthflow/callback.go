package oauthflow

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/exchange"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/oidc"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// CallbackRequest is a request to the callback.
type CallbackRequest struct {
	Browser *flowstate.Browser
	// Origin is the public origin of the request, and Base the URL of the auth routes there.
	Origin, Base string
	Query        weburl.Params
	// BrowserID identifies the browser among repeated callbacks. It may be empty.
	BrowserID string
}

// Answer is an authorization response to a flow of this browser.
type Answer struct {
	// Clear are cookies that the response to the browser deletes, whatever the result is, because a flow is valid for one
	// callback.
	Clear []cookie.Cookie
	// ForwardTo is where a redirect proxy forwards the callback. If it is not empty, there is no flow.
	ForwardTo string
	// Flow is the started flow. It is nil if none was found.
	Flow *flowstate.Flow
	// Session says how the current session relates to the one that started the flow.
	Session flowstate.Session
	// User is the parameter user; see [Flow.FirstConsent].
	User string
	// Key identifies the callback.
	Key exchange.Key

	browser string
	// accept checks the response, and returns what exchanges it.
	accept func() (redeem, error)
}

// redeem exchanges an authorization response. It may be called after the request of the callback has ended.
type redeem func(ctx context.Context, tools Tools) (*Result, error)

// Tools are the parts of a sign-in that the application may replace or observe. They must be usable after the request
// of the callback has ended.
type Tools interface {
	// Userinfo requests the profile. claims are those of the ID token, or nil.
	Userinfo(ctx context.Context, at oauth.Endpoints, t *oauth.Tokens, claims map[string]any) (map[string]any, error)
	// Received is called with each token response, before it is verified.
	Received(ctx context.Context, t *oauth.Tokens)
	// Incomplete is called if an ID token has no name and no email, and the userinfo request failed.
	Incomplete(ctx context.Context, err error)
}

// Read finds the flow that a callback belongs to (RFC 6749 section 4.1.2, OpenID Connect Core section 3.1.2.5, RFC 5849
// section 2.2), and checks that this browser has started it. The answer is never nil: with an error it contains what is
// known.
func (f *Flow) Read(ctx context.Context, r *CallbackRequest) (*Answer, error) {
	a := &Answer{browser: r.BrowserID}
	if f.Client1 != nil {
		return a, f.read1(ctx, a, r)
	}
	params, deletions, err := f.params(r)
	a.Clear = deletions
	if err != nil {
		return a, err
	}
	if a.ForwardTo, err = f.forwardFromProxy(r); err != nil || a.ForwardTo != "" {
		return a, err
	}
	a.Flow, err = r.Browser.Find(&f.Provider, params.Get("state"))
	if a.Flow != nil {
		a.Clear = append(a.Clear, a.Flow.Clear...)
	}
	if err != nil {
		return a, err
	}
	at, err := f.Client.Endpoints(ctx)
	if err != nil {
		return a, autherr.New(autherr.CallbackRoute, err)
	}
	response, err := oauth.ReadAnswer(params) // it rejects repeated parameters, which an attacker may have added
	if err != nil {
		return a, autherr.New(autherr.InvalidCheck, err)
	}
	if len(f.Provider.Checks) > 0 {
		if a.Session, err = r.Browser.Compare(ctx, a.Flow); err != nil {
			return a, err
		}
	}
	a.User, a.Key = params.Get("user"), f.keyOf(a.Flow, r, params.Get("code"))
	a.accept = func() (redeem, error) {
		code, err := f.Client.Accept(at, response)
		if err != nil {
			return nil, refused(err)
		}
		redirectURI, _ := f.redirectURI(r.Origin, r.Base)
		verifier, nonce := a.Flow.Verifier, a.Flow.Nonce
		return func(ctx context.Context, tools Tools) (*Result, error) {
			return f.redeem(ctx, tools, at, func(ctx context.Context) (*oauth.Tokens, error) {
				return f.Client.Redeem(ctx, at, code, verifier, redirectURI)
			}, nonce)
		}, nil
	}
	return a, nil
}

// refused maps an authorization error response (RFC 6749 section 4.1.2.1).
func refused(err error) error {
	said, ok := errors.AsType[*oauth.AnswerError](err)
	switch {
	case !ok:
		return autherr.New(autherr.InvalidCheck, err)
	case said.ByUser():
		return autherr.New(autherr.OAuthCallback, errormarks.ByClient(err))
	case said.ByClient():
		return autherr.New(autherr.OAuthCallback, err)
	}
	return autherr.New(autherr.OAuthCallback, errormarks.Suspicious(err)) // or the provider is not working
}

// Result is what a provider returned for an authorization response.
type Result struct {
	Tokens *oauth.Tokens
	// Claims are those of the verified ID token, or nil.
	Claims  map[string]any
	Profile map[string]any
}

// Exchanges makes a repeated callback join the first one, because a code is valid once.
type Exchanges = exchange.Exchanges[*Result]

// keyOf identifies a callback. answer is the code, or with OAuth 1.0a token and verifier.
func (f *Flow) keyOf(flow *flowstate.Flow, r *CallbackRequest, answer string) exchange.Key {
	return exchange.KeyOf(f.Provider.ID+"\x00"+flow.Tag, r.BrowserID, answer)
}

// Complete exchanges the code, verifies the ID token and requests the profile (RFC 6749 section 4.1.3 and 4.1.4, OpenID
// Connect Core section 3.1.3, RFC 5849 section 2.3). All callbacks with the same key share one exchange and its
// result: the caller copies what it changes. A flow without a tag has no key: Auth.js started it, or the provider uses
// no checks. A re-authentication counts once.
func (f *Flow) Complete(ctx context.Context, a *Answer, tools Tools) (*Result, error) {
	redeem, err := a.accept()
	if err != nil {
		return nil, err
	}
	if a.Flow.Tag == "" || a.Flow.Reauth != nil {
		return redeem(ctx, tools)
	}
	shared, err := f.Exchanges.Do(ctx, a.Key, a.browser, func(ctx context.Context) (*Result, error) {
		return panics.Call("exchange", func() (*Result, error) { return redeem(ctx, tools) })
	})
	if err != nil {
		return nil, exchangeError(ctx, err)
	}
	return shared, nil
}

// exchangeError returns the error of a shared exchange.
func exchangeError(ctx context.Context, err error) error {
	_, typed := errors.AsType[*autherr.Error](err)
	switch {
	case typed:
		return err
	case errors.Is(err, exchange.ErrInProgress):
		return autherr.New(autherr.InvalidCheck, errormarks.Over(errormarks.Used, err))
	case ctx.Err() != nil: // the browser has disconnected
		err = errormarks.ByClient(err)
	}
	return autherr.New(autherr.CallbackRoute, err)
}

// redeem requests tokens with exchange, verifies the ID token, and returns the profile.
func (f *Flow) redeem(
	ctx context.Context, tools Tools, at oauth.Endpoints, exchange func(context.Context) (*oauth.Tokens, error),
	nonce string,
) (*Result, error) {
	tokens, err := exchange(ctx)
	switch {
	case errors.Is(err, oauth.ErrNotAllowed):
		return nil, autherr.New(autherr.OAuthCallback, errormarks.ByClient(err))
	case errors.Is(err, oauth.ErrNoCode):
		return nil, autherr.New(autherr.CallbackRoute, errormarks.ByClient(err))
	case errors.Is(err, oauth.ErrInvalidGrant), errors.Is(err, oauth.ErrRequestTokenUsed):
		err = errormarks.Suspicious(err) // another process used the code, or a request that was lost
		return nil, autherr.New(autherr.CallbackRoute, errormarks.Over(errormarks.Used, err))
	case err != nil:
		return nil, autherr.New(autherr.CallbackRoute, err)
	}
	tools.Received(ctx, tokens)
	r := &Result{Tokens: tokens}
	if f.verifiesIDTokens() {
		if r.Claims, err = f.Client.VerifyIDToken(ctx, at, tokens, nonce); err != nil {
			return nil, autherr.New(autherr.CallbackRoute, err)
		}
		if !f.ProfileFromUserinfo {
			r.Profile = f.completedClaims(ctx, tools, at, r)
			return r, nil
		}
	}
	r.Profile, err = f.userinfo(ctx, tools, at, r)
	return r, err
}

func (f *Flow) verifiesIDTokens() bool { return f.OpenID && f.Client1 == nil }

// userinfo requests the profile. It must be about the subject of the ID token.
func (f *Flow) userinfo(ctx context.Context, tools Tools, at oauth.Endpoints, r *Result) (map[string]any, error) {
	profile, err := tools.Userinfo(ctx, at, r.Tokens, r.Claims)
	if err != nil {
		return nil, autherr.New(autherr.CallbackRoute, err)
	}
	if f.verifiesIDTokens() && exactjson.TextIn(profile, "sub") != exactjson.TextIn(r.Claims, "sub") {
		return nil, f.failed(autherr.CallbackRoute,
			"userinfo is about another subject than the ID token (OpenID Connect Core section 5.3.2)")
	}
	return profile, nil
}

// optionalUserinfo is the timeout of a userinfo request whose failure does not fail the sign-in.
const optionalUserinfo = 3 * time.Second

// completedClaims returns the claims of the ID token. If name and email were requested but the ID token has neither, it
// adds the claims of the userinfo endpoint: OpenID Connect Core section 5.4 lets a provider return the claims of scopes
// only there, and several do. The sign-in does not depend on the response.
func (f *Flow) completedClaims(ctx context.Context, tools Tools, at oauth.Endpoints, r *Result) map[string]any {
	named := exactjson.TextIn(r.Claims, "name") != "" || exactjson.TextIn(r.Claims, "email") != ""
	if named || !f.Client.HasUserinfo(at) || !f.requestedProfile(r.Tokens.Scope) {
		return r.Claims
	}
	ctx, cancel := context.WithTimeout(ctx, optionalUserinfo)
	defer cancel()
	userinfo, err := f.userinfo(ctx, tools, at, r)
	if err != nil {
		tools.Incomplete(ctx, err)
		return r.Claims
	}
	return oidc.WithUserinfo(r.Claims, userinfo)
}

// requestedProfile reports whether the scope profile or email was requested and, if the provider says so, granted.
func (f *Flow) requestedProfile(granted string) bool {
	scope := granted
	if scope == "" {
		if scope = f.Authorization.Param("scope"); scope == "" {
			scope = f.Scope
		}
	}
	for name := range strings.FieldsFuncSeq(scope, func(r rune) bool { return r == ' ' || r == ',' || r == '+' }) {
		if name == "profile" || name == "email" {
			return true
		}
	}
	return false
}
