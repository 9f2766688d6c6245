package core

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/internal/oauth"
)

// startOAuth1 gets a request token and sends the browser to the provider (RFC 5849 section 2.1 and 2.2).
func (x *exchange) startOAuth1(ctx context.Context, c *oauthClient) (*Response, error) {
	token, err := c.client.RequestToken(ctx, x.base()+"/callback/"+c.ID)
	if err != nil {
		return nil, errorf(OAuthSignInError, "%w", err)
	}
	address, err := c.client.AuthorizeRequestToken(token)
	if err != nil {
		return nil, errorf(AuthError, "%w", err)
	}
	f := flow{Tag: flowHash(x.flowKeys[0], "request token", token.Token)[:tagLength], Kept: token.Secret}
	if f.Who, err = x.who(ctx); err != nil {
		return nil, err
	}
	cookies, err := x.remember(f, nil, len(address))
	return &Response{Redirect: address, Cookies: cookies}, err
}

// finishOAuth1 takes the provider's answer (RFC 5849 section 2.2 and 2.3). The request token is forgotten whatever
// becomes of it.
func (x *exchange) finishOAuth1(ctx context.Context, c *oauthClient, response *Response) (*identity, error) {
	answer, err := c.client.ReadVerifier(x.query)
	if err != nil {
		return nil, errorf(OAuthCallbackError, "%w", mistake(err))
	}
	secret, err := x.requestTokenSecret(ctx, c, answer.Token, response)
	if err != nil {
		return nil, err
	}
	token, err := c.client.AccessToken(ctx, answer, secret)
	switch {
	case errors.Is(err, oauth.ErrNotAllowed):
		return nil, errorf(OAuthCallbackError, "%w", mistake(err))
	case err != nil:
		return nil, errorf(CallbackRouteError, "%w", err)
	}
	tokens, err := c.tokenSet1(token, x.now())
	if err != nil {
		return nil, err
	}
	profile, err := c.userinfo1(ctx, token, tokens)
	if err != nil {
		return nil, errorf(CallbackRouteError, "%w", tokens.hide(err))
	}
	return identityOf(ctx, c, profile, tokens, x.newUserID)
}

// requestTokenSecret finds the flow of a request token, which is forgotten whatever becomes of it, and returns the
// token's secret.
func (x *exchange) requestTokenSecret(
	ctx context.Context, c *oauthClient, token string, response *Response,
) (string, error) {
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
	return "", errorf(InvalidCheck,
		"no cookie remembers the request token: the sign-in was started in another browser or more than %v ago", checkTTL)
}

// userinfo1 asks whom the token belongs to. A FetchUserinfo gets a client that signs.
func (c *oauthClient) userinfo1(ctx context.Context, token oauth.Token1, tokens *TokenSet) (Profile, error) {
	if c.FetchUserinfo == nil {
		return c.client.SignedUserinfo(ctx, token)
	}
	return c.fetchUserinfo(ctx, oauth.Endpoints{}, tokens)
}
