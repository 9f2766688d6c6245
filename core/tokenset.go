package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/oauth"
)

// TokenSet is the answer of a token endpoint.
type TokenSet struct {
	AccessToken, RefreshToken, IDToken Secret
	TokenType, Scope                   string
	// ExpiresIn is the lifetime of the access token in whole seconds, and ExpiresAt when it ends, to the second; both are
	// zero when the answer has no expires_in.
	ExpiresIn time.Duration
	ExpiresAt time.Time
	// Claims are those of the verified ID token, nil for plain OAuth.
	Claims Profile
	// Extra are the other members of the answer.
	Extra Members
	// Now is when the answer came.
	Now time.Time
	// Provider is the provider as New completed it. It is shared: do not write to it.
	Provider *OAuthProvider
	// Client sends further requests to the provider, under the bounds of all requests to it.
	Client *http.Client
}

// UserinfoRequest is what a FetchUserinfo function works with.
type UserinfoRequest struct {
	// Tokens are those of the token endpoint.
	Tokens *TokenSet
	// URL is the userinfo endpoint with its parameters.
	URL string
}

// Get asks url with the access token as bearer and reads the answer. Headers come in pairs of name and value.
func (r *UserinfoRequest) Get(ctx context.Context, url string, headers ...string) (Profile, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+string(r.Tokens.AccessToken))
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return r.Do(request)
}

// Do sends a request and reads the answer: an object, with a status of success.
func (r *UserinfoRequest) Do(request *http.Request) (Profile, error) {
	body, err := r.Tokens.Send(request)
	if err != nil {
		return nil, err
	}
	return decodeProfile(body)
}

// Send sends a request to the provider and returns the body of an answer with a status of success, 200 to 299. Errors
// name the host, and hold neither tokens nor the rest of the address.
func (t *TokenSet) Send(request *http.Request) ([]byte, error) {
	if request.Header.Get("Accept") == "" {
		request.Header.Set("Accept", "application/json")
	}
	response, err := t.Client.Do(request)
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the address, in which some providers want the token
	}
	if err != nil {
		return nil, t.hide(fmt.Errorf("%s: %w", request.URL.Host, err))
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s answered status %d", request.URL.Host, response.StatusCode)
	}
	return io.ReadAll(response.Body) // the client has bounded it
}

// hiding is an error whose text leaves out tokens that got into it: from an address, or from the text of a provider's
// own function or of the operator's transport.
type hiding struct {
	err    error
	tokens []string
}

// Error is the text with a placeholder for each token.
func (e *hiding) Error() string {
	text := e.err.Error()
	for _, token := range e.tokens {
		text = strings.ReplaceAll(text, token, Secret(token).String())
	}
	return text
}

// Unwrap returns the error as it was.
func (e *hiding) Unwrap() error { return e.err }

// hide returns err with a text without these tokens, in any spelling that addresses have. Texts of fewer than eight
// characters are no tokens.
func (t *TokenSet) hide(err error) error {
	if err == nil {
		return nil
	}
	e := &hiding{err: err}
	oauth1 := []string{t.Extra.Text("oauth_token"), t.Extra.Text("oauth_token_secret")}
	for _, token := range append(oauth1, string(t.AccessToken), string(t.RefreshToken), string(t.IDToken)) {
		if len(token) >= 8 {
			e.tokens = append(e.tokens, token, url.QueryEscape(token), url.PathEscape(token))
		}
	}
	return e
}

// tokenSet is a token answer as applications see it.
func (c *oauthClient) tokenSet(t *oauth.Tokens) *TokenSet {
	return &TokenSet{
		AccessToken: Secret(t.AccessToken), RefreshToken: Secret(t.RefreshToken), IDToken: Secret(t.IDToken),
		TokenType: t.TokenType, Scope: t.Scope, ExpiresIn: t.ExpiresIn, ExpiresAt: t.ExpiresAt, Extra: t.Extra, Now: t.Now,
		Provider: &c.OAuthProvider, Client: &http.Client{Transport: c.client.Transport()},
	}
}

// tokenSet1 is a token of OAuth 1.0a as applications see it, with a client that signs.
func (c *oauthClient) tokenSet1(t oauth.Token1, now time.Time) (*TokenSet, error) {
	tokens := &TokenSet{
		Now: now, Provider: &c.OAuthProvider, Client: &http.Client{Transport: c.client.SigningTransport(t)},
	}
	err := tokens.Extra.Set("oauth_token", t.Token)
	if err == nil {
		err = tokens.Extra.Set("oauth_token_secret", t.Secret)
	}
	return tokens, err
}
