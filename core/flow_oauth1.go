package core

import (
	"context"
	"errors"
	"net/http"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/internal/oauth"
)

// oauth1Flow signs users in with a service that uses OAuth 1.0a.
type oauth1Flow struct {
	*oauthClient
	checks    *checks
	newUserID func(provider, accountID string) (string, error)
}

// needsToken implements [flow].
func (f *oauth1Flow) needsToken() bool { return false }

// start implements [flow]: it gets a request token and sends the browser to the provider (RFC 5849 section 2.1 and
// 2.2).
func (f *oauth1Flow) start(ctx context.Context, c *call) (*Response, error) {
	token, err := f.client1.RequestToken(ctx, c.base+"/callback/"+f.ID)
	if err != nil {
		return nil, errorf(errOAuthSignIn, "%w", err)
	}
	address, err := f.client1.AuthorizeRequestToken(token)
	if err != nil {
		return nil, errorf(ErrAuth, "%w", err)
	}
	flows := f.checks.flowsOf(c)
	flow := flows.New(ctx, f.ID, "request token", token.Token, c.flowStart(""))
	flow.Secret = token.Secret
	response := redirectTo(address)
	stored, err := flows.Store(flow, f.flowClient(), len(address))
	response.Cookies = ownCookies(stored)
	return response, flowError(err)
}

// finish implements [flow]: it handles the provider's callback (RFC 5849 section 2.2 and 2.3). The cookie with the
// request token is deleted whatever the result is.
func (f *oauth1Flow) finish(ctx context.Context, c *call) (out outcome, err error) {
	answer, err := oauth.ReadVerifier(c.query)
	if err != nil {
		return out, errorf(errOAuthCallback, "%w", clientError(err))
	}
	flows := f.checks.flowsOf(c)
	flow := flows.FindNamed(f.ID, "request token", answer.Token)
	if flow == nil {
		return out, callbackErrorf(errInvalidCheck, reasonExpired, "no cookie has the request token: the sign-in was "+
			"started in another browser or more than %v ago", cookies.FlowLifetime)
	}
	out.cookies = ownCookies(flow.Clear)
	started, err := flows.Compare(ctx, flow)
	if err != nil {
		return out, flowError(err)
	}
	out.returnTo = c.flowReturn(ctx, flow)
	key := c.exchangeKey(flow, answer.Token+"\x00"+c.query.Get("oauth_verifier"))
	tokens, profile, err := c.exchangeOnce(ctx, f.checks.exchanges, key,
		func(ctx context.Context) (*TokenSet, Profile, error) { return f.redeem(ctx, answer, flow.Secret) })
	if err != nil {
		return out, err
	}
	if out.identity, err = identityOf(ctx, f.oauthClient, profile, tokens, f.newUserID); err == nil {
		out.identity.started, out.identity.oauth.exchange = started, key
	}
	return out, err
}

// redeem exchanges the request token for an access token, and requests the profile of its account.
func (f *oauth1Flow) redeem(ctx context.Context, answer oauth.Answer1, secret string) (*TokenSet, Profile, error) {
	token, err := f.client1.AccessToken(ctx, answer, secret)
	switch {
	case errors.Is(err, oauth.ErrNotAllowed):
		return nil, nil, errorf(errOAuthCallback, "%w", clientError(err))
	case errors.Is(err, oauth.ErrRequestTokenUsed): // by another process or a lost request
		return nil, nil, callbackErrorf(errCallbackRoute, reasonUsed, "%w", suspiciousError(err))
	case err != nil:
		return nil, nil, errorf(errCallbackRoute, "%w", err)
	}
	tokens, err := f.tokenSet(token)
	if err != nil {
		return nil, nil, err
	}
	profile, err := f.userinfo(ctx, token, tokens)
	if err != nil {
		return nil, nil, errorf(errCallbackRoute, "%w", tokens.hide(err))
	}
	return tokens, profile, nil
}

// tokenSet returns a token as a TokenSet, with an HTTP client that signs requests.
func (f *oauth1Flow) tokenSet(t oauth.Token1) (*TokenSet, error) {
	tokens := &TokenSet{
		Now: f.checks.Now(), Provider: &f.OAuthProvider, Client: &http.Client{Transport: f.client1.SigningTransport(t)},
	}
	err := tokens.Extra.Set("oauth_token", t.Token)
	if err == nil {
		err = tokens.Extra.Set("oauth_token_secret", t.Secret)
	}
	return tokens, err
}

// userinfo requests the profile of the account. FetchUserinfo gets a client that signs requests.
func (f *oauth1Flow) userinfo(ctx context.Context, token oauth.Token1, tokens *TokenSet) (Profile, error) {
	if f.FetchUserinfo == nil {
		return f.client1.Userinfo(ctx, token)
	}
	return f.fetchUserinfo(ctx, oauth.Endpoints{}, tokens)
}
