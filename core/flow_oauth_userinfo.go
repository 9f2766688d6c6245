package core

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/oidc"
	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

// userinfo asks who the access token belongs to (OpenID Connect Core section 5.3).
func (a *Auth) userinfo(ctx context.Context, c *oauthClient, at endpoints, tokens *TokenSet) (Profile, error) {
	e := Endpoint{URL: at.userinfo, Params: c.Userinfo.Params}
	if c.FetchUserinfo != nil {
		return fetchUserinfo(ctx, c, e, tokens)
	}
	answer, err := a.askUserinfo(ctx, c, e, func(r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+string(tokens.AccessToken))
		return nil
	})
	if err != nil {
		return nil, err
	}
	media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if c.UserinfoAlg == "" && media != "application/jwt" {
		return decodeProfile(answer.Body)
	}
	expect := oidc.Expect{Metadata: at.metadata, ClientID: c.ClientID, ClientSecret: string(c.ClientSecret)}
	if c.UserinfoAlg != "" {
		expect.Algs = []string{c.UserinfoAlg}
	}
	if at.metadata == nil {
		return nil, errors.New("the answer is signed, and without an issuer there are no keys to verify it with")
	}
	return a.docsOf(c).VerifyUserinfo(ctx, string(answer.Body), expect)
}

// fetchUserinfo lets the provider's own function ask.
func fetchUserinfo(ctx context.Context, c *oauthClient, e Endpoint, tokens *TokenSet) (Profile, error) {
	target, err := e.withParams()
	if err != nil {
		return nil, err
	}
	return guarded("FetchUserinfo", func() (Profile, error) {
		profile, err := c.FetchUserinfo(ctx, &UserinfoRequest{Tokens: tokens, URL: target})
		if err == nil && profile == nil {
			err = errors.New("the answer has no profile")
		}
		return profile, err
	})
}

// askUserinfo asks a userinfo endpoint, with the proof that authorize adds.
func (a *Auth) askUserinfo(ctx context.Context, c *oauthClient, e Endpoint, authorize func(*http.Request) error) (*upstream.Response, error) {
	if e.URL == "" {
		return nil, errors.New("there is no userinfo endpoint")
	}
	request, err := endpointRequest(ctx, http.MethodGet, e)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json, application/jwt")
	if err := authorize(request); err != nil {
		return nil, err
	}
	answer, err := a.clientOf(c).Do(ctx, request, upstream.NoRedirects)
	if err != nil {
		return nil, err
	}
	if answer.Status/100 != 2 {
		return nil, fmt.Errorf("status %d", answer.Status)
	}
	return answer, nil
}

// withParams is the address with the parameters in its query.
func (e Endpoint) withParams() (string, error) {
	target, err := url.Parse(e.URL)
	if err != nil {
		return "", err
	}
	if len(e.Params) > 0 {
		query := target.Query()
		for name, values := range e.Params {
			query[name] = values
		}
		target.RawQuery = query.Encode()
	}
	return target.String(), nil
}

// endpointRequest makes a request to an endpoint with its parameters, without a body.
func endpointRequest(ctx context.Context, method string, e Endpoint) (*http.Request, error) {
	target, err := e.withParams()
	if err != nil {
		return nil, err
	}
	return http.NewRequestWithContext(ctx, method, target, nil)
}

// decodeProfile reads a JSON object with exact names and numbers.
func decodeProfile(body []byte) (Profile, error) {
	members, err := exactjson.DecodeObject(body)
	return members, err
}
