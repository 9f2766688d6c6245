package core

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/core/internal/oauth1"
	"github.com/latchkey-go/latchkey/core/internal/upstream"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// startOAuth1 gets a request token and sends the browser to the provider (RFC 5849 section 2.1 and 2.2).
func (x *exchange) startOAuth1(ctx context.Context, c *oauthClient) (*Response, error) {
	own := x.base() + "/callback/" + c.ID
	answer, err := x.oauth1Post(ctx, c, c.RequestToken, oauth1.Credentials{}, url.Values{"oauth_callback": {own}})
	if err != nil {
		return nil, errorf(OAuthSignInError, "provider %q: request token: %w", c.ID, err)
	}
	if answer.Get("oauth_callback_confirmed") != "true" {
		return nil, errorf(OAuthSignInError, "provider %q does not confirm the callback: it is one of OAuth 1.0 before revision A, which is not safe", c.ID)
	}
	target, err := url.Parse(c.Authorization.URL)
	if err != nil {
		return nil, errorf(AuthError, "provider %q: authorization endpoint: %w", c.ID, err)
	}
	params := target.Query()
	for name, values := range c.Authorization.Params {
		params[name] = values
	}
	params.Set("oauth_token", answer.Get("oauth_token"))
	target.RawQuery = params.Encode()
	address, err := weburl.Normalise(target.String())
	if err != nil {
		return nil, errorf(AuthError, "provider %q: authorization endpoint: %w", c.ID, err)
	}
	f := flow{Tag: flowHash(x.flowKeys[0], "request token", answer.Get("oauth_token"))[:tagLength], Kept: answer.Get("oauth_token_secret")}
	if f.Who, err = x.who(ctx); err != nil {
		return nil, err
	}
	cookies, err := x.remember(f, nil, len(address))
	return &Response{Redirect: address, Cookies: cookies}, err
}

// finishOAuth1 takes the provider's answer (RFC 5849 section 2.2 and 2.3). The request token is forgotten whatever becomes of it.
func (x *exchange) finishOAuth1(ctx context.Context, c *oauthClient, response *Response) (*identity, error) {
	for _, name := range []string{"oauth_token", "oauth_verifier", "denied"} {
		if x.query.Count(name) > 1 {
			return nil, errorf(OAuthCallbackError, "%w", mistake(fmt.Errorf("the answer has %s twice", name)))
		}
	}
	denied := x.query.Get("denied") // X says it so; RFC 5849 knows no word for it
	token := or(x.query.Get("oauth_token"), denied)
	secret, err := x.requestTokenSecret(ctx, c, token, response)
	if err != nil {
		return nil, err
	}
	if denied != "" {
		return nil, errorf(OAuthCallbackError, "provider %q: %w", c.ID, mistake(errors.New("the visitor denied")))
	}
	verifier := x.query.Get("oauth_verifier")
	if verifier == "" {
		return nil, errorf(OAuthCallbackError, "provider %q: %w", c.ID, mistake(errors.New("the answer has no oauth_verifier")))
	}
	answer, err := x.oauth1Post(ctx, c, c.Token, oauth1.Credentials{Token: token, Secret: secret}, url.Values{"oauth_verifier": {verifier}})
	if err != nil {
		return nil, errorf(CallbackRouteError, "provider %q: access token: %w", c.ID, err)
	}
	tokens := &TokenSet{Now: x.now()}
	for _, name := range []string{"oauth_token", "oauth_token_secret"} {
		if err := tokens.Extra.Set(name, answer.Get(name)); err != nil {
			return nil, err
		}
	}
	profile, err := x.oauth1Userinfo(ctx, c, tokens, oauth1.Credentials{Token: answer.Get("oauth_token"), Secret: answer.Get("oauth_token_secret")})
	if err != nil {
		return nil, errorf(CallbackRouteError, "provider %q: userinfo: %w", c.ID, tokens.hide(err))
	}
	return x.identityOf(ctx, c, profile, tokens)
}

// requestTokenSecret finds the flow of a request token, which is forgotten whatever becomes of it, and returns the token's secret.
func (x *exchange) requestTokenSecret(ctx context.Context, c *oauthClient, token string, response *Response) (string, error) {
	pending := x.pendingFlows()
	for i := range pending.earlier {
		f := &pending.earlier[i]
		if f.Provider != c.ID || x.hashKey("request token", token, f.Tag) == nil {
			continue
		}
		var err error
		if response.Cookies, err = x.forgetEarlier(i); err != nil {
			return "", err
		}
		return f.Kept, x.sameVisitor(ctx, f)
	}
	return "", errorf(InvalidCheck, "no cookie remembers the request token: the sign-in was started in another browser or more than %v ago", checkTTL)
}

// oauth1Account keeps what SPEC 5.11 names.
func oauth1Account(t *TokenSet) *Account {
	return &Account{Extra: Members{"oauth_token": t.Extra["oauth_token"], "oauth_token_secret": t.Extra["oauth_token_secret"]}}
}

func (x *exchange) oauth1Signer(c *oauthClient) oauth1.Signer {
	return oauth1.Signer{
		Client: oauth1.Credentials{Token: c.ClientID, Secret: string(c.ClientSecret)},
		Now:    x.now, Nonce: func() (string, error) { return x.randomHex(16) },
	}
}

// oauth1Post sends a signed POST and reads the token with its secret from the form that answers.
func (x *exchange) oauth1Post(ctx context.Context, c *oauthClient, e Endpoint, token oauth1.Credentials, extra url.Values) (url.Values, error) {
	request, err := endpointRequest(ctx, http.MethodPost, e)
	if err != nil {
		return nil, err
	}
	if err := x.oauth1Signer(c).Sign(request, token, extra); err != nil {
		return nil, err
	}
	answer, err := x.clientOf(c).Do(ctx, request, upstream.NoRedirects)
	if err != nil {
		return nil, err
	}
	if answer.Status/100 != 2 {
		return nil, fmt.Errorf("status %d (401: check the key and the secret of the client, its callback URL, and this machine's clock)", answer.Status)
	}
	form, err := url.ParseQuery(string(answer.Body))
	if err != nil || len(form["oauth_token"]) != 1 || len(form["oauth_token_secret"]) != 1 || form.Get("oauth_token") == "" {
		return nil, errors.New("the answer has no oauth_token with an oauth_token_secret")
	}
	if len(form.Get("oauth_token"))+len(form.Get("oauth_token_secret")) > 400 { // it goes into a cookie
		return nil, errors.New("the token is too long")
	}
	return form, nil
}

// oauth1Userinfo asks who the token belongs to. A FetchUserinfo gets a client that signs.
func (x *exchange) oauth1Userinfo(ctx context.Context, c *oauthClient, tokens *TokenSet, token oauth1.Credentials) (Profile, error) {
	signing := signingTransport{signer: x.oauth1Signer(c), token: token, next: x.clientOf(c).Transport(upstream.NoRedirects)}
	tokens.Provider, tokens.Client = &c.OAuthProvider, &http.Client{Transport: signing}
	if c.FetchUserinfo != nil {
		return fetchUserinfo(ctx, c, c.Userinfo, tokens)
	}
	answer, err := x.askUserinfo(ctx, c, c.Userinfo, func(r *http.Request) error { return signing.signer.Sign(r, token, nil) })
	if err != nil {
		return nil, err
	}
	return decodeProfile(answer.Body)
}

// signingTransport signs requests.
type signingTransport struct {
	signer oauth1.Signer
	token  oauth1.Credentials
	next   http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (t signingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if err := t.signer.Sign(r, t.token, nil); err != nil {
		return nil, err
	}
	return t.next.RoundTrip(r)
}
