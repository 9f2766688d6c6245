package oauthflow

import (
	"context"
	"net/http"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/oauth"
)

// start1 gets a request token (RFC 5849 section 2.1 and 2.2).
func (f *Flow) start1(ctx context.Context, r *Request) (string, []cookie.Cookie, error) {
	token, err := f.Client1.RequestToken(ctx, r.Base+"/callback/"+f.Provider.ID)
	if err != nil {
		return "", nil, autherr.New(autherr.OAuthSignIn, err)
	}
	address, err := f.Client1.AuthorizeRequestToken(token)
	if err != nil {
		return "", nil, autherr.New(autherr.Auth, err)
	}
	flow := r.Browser.NewRequestToken(ctx, f.Provider.ID, token.Token, token.Secret, r.Start)
	stored, err := r.Browser.Store(flow, &f.Provider, len(address))
	return address, stored, err
}

// read1 reads the callback (RFC 5849 section 2.2).
func (f *Flow) read1(ctx context.Context, a *Answer, r *CallbackRequest) error {
	answer, err := oauth.ReadVerifier(r.Query)
	if err != nil {
		return autherr.New(autherr.OAuthCallback, errormarks.ByClient(err))
	}
	if a.Flow, err = r.Browser.FindRequestToken(f.Provider.ID, answer.Token); err != nil {
		return err
	}
	a.Clear = a.Flow.Clear
	if a.Session, err = r.Browser.Compare(ctx, a.Flow); err != nil {
		return err
	}
	a.Key = f.keyOf(a.Flow, r, answer.Token+"\x00"+r.Query.Get("oauth_verifier"))
	secret := a.Flow.Secret
	a.accept = func() (redeem, error) {
		return func(ctx context.Context, tools Tools) (*Result, error) {
			return f.redeem(ctx, tools, oauth.Endpoints{}, func(ctx context.Context) (*oauth.Tokens, error) {
				return f.Client1.AccessToken(ctx, answer, secret)
			}, "")
		}, nil
	}
	return nil
}

// Transport returns a transport for further requests to the provider, with the limits of all requests to it. With OAuth
// 1.0a it signs requests with the tokens.
func (f *Flow) Transport(t *oauth.Tokens) http.RoundTripper {
	if f.Client1 != nil {
		return f.Client1.SigningTransport(t)
	}
	return f.Client.Transport()
}

// Userinfo requests the profile from the userinfo endpoint.
func (f *Flow) Userinfo(ctx context.Context, at oauth.Endpoints, t *oauth.Tokens) (map[string]any, error) {
	if f.Client1 != nil {
		return f.Client1.Userinfo(ctx, t)
	}
	return f.Client.Userinfo(ctx, at, t.AccessToken)
}
