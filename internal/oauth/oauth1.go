package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/oauth1"
	"github.com/latchkey-go/latchkey/internal/oidc"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/internal/upstream"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// maxToken1 is the maximum length of an OAuth 1.0a token with its secret, in bytes. A request token must fit into a
// cookie.
const maxToken1 = 400

// Token1 is an OAuth 1.0a request token or access token, with its secret for signing.
type Token1 struct{ Token, Secret string }

// Client1 is the client of one OAuth 1.0a provider (RFC 5849). It is immutable and safe for concurrent use. Create it
// with [New1].
type Client1 struct{ config Config }

// New1 returns a Client1 for the configured endpoints. It sends no requests.
func New1(c Config) *Client1 { return &Client1{c} }

// RequestToken returns a request token (RFC 5849 section 2.1). The caller stores its secret until the callback.
func (c *Client1) RequestToken(ctx context.Context, callback string) (Token1, error) {
	answer, err := c.post1(ctx, c.config.RequestToken, Token1{}, url.Values{"oauth_callback": {callback}})
	if err != nil {
		return Token1{}, c.config.errorf(": request token: %w", err)
	}
	if answer.Get("oauth_callback_confirmed") != "true" {
		const format = " does not confirm the callback: it is one of OAuth 1.0 before revision A, which is not safe"
		return Token1{}, c.config.errorf(format)
	}
	return tokenIn(answer), nil
}

// AuthorizeRequestToken returns the URL that the browser is redirected to (RFC 5849 section 2.2).
func (c *Client1) AuthorizeRequestToken(t Token1) (string, error) {
	target, err := url.Parse(c.config.Authorization.URL)
	if err != nil {
		return "", c.config.errorf(": authorization endpoint: %w", err)
	}
	params := target.Query()
	for name, values := range c.config.Authorization.Params {
		params[name] = values
	}
	params.Set("oauth_token", t.Token)
	target.RawQuery = params.Encode()
	address, err := weburl.Normalise(target.String())
	if err != nil {
		return "", c.config.errorf(": authorization endpoint: %w", err)
	}
	return address, nil
}

// Answer1 is the callback of an OAuth 1.0a sign-in (RFC 5849 section 2.2). Token is the request token in it.
type Answer1 struct {
	Token    string
	verifier string
	denied   bool
}

// ErrNotAllowed means that the user denied access at an OAuth 1.0a provider, or that the callback has no verifier.
var ErrNotAllowed = errors.New("the user denied access")

// ErrRequestTokenUsed means that the service rejects a request token because it has expired or was already exchanged.
var ErrRequestTokenUsed = errors.New("the service refuses the request token: it is expired or was used before")

// unauthorized is a response with status 401.
type unauthorized struct{ error }

// tokenUsed is an ErrRequestTokenUsed with a cause.
type tokenUsed struct{ error }

// Is reports whether target is ErrRequestTokenUsed.
func (*tokenUsed) Is(target error) bool { return target == ErrRequestTokenUsed }

// notAllowed is an ErrNotAllowed with a cause.
type notAllowed struct{ error }

// Is reports whether target is ErrNotAllowed.
func (*notAllowed) Is(target error) bool { return target == ErrNotAllowed }

// ReadVerifier reads the callback for a request token. It rejects repeated parameters.
func ReadVerifier(p Params) (Answer1, error) {
	for _, name := range []string{"oauth_token", "oauth_verifier", "denied"} {
		if p.Count(name) > 1 {
			return Answer1{}, fmt.Errorf("the callback has %s more than once", name)
		}
	}
	denied := p.Get("denied") // X uses this parameter; RFC 5849 defines none
	return Answer1{Token: or(p.Get("oauth_token"), denied), verifier: p.Get("oauth_verifier"), denied: denied != ""}, nil
}

// AccessToken exchanges the request token for an access token (RFC 5849 section 2.3). secret is the secret of the
// request token. If the user denied access, the error is [ErrNotAllowed].
func (c *Client1) AccessToken(ctx context.Context, a Answer1, secret string) (*Tokens, error) {
	switch {
	case a.denied:
		return nil, &notAllowed{c.config.errorf(": the user denied access")}
	case a.verifier == "":
		return nil, &notAllowed{c.config.errorf(": the callback has no oauth_verifier")}
	}
	answer, err := c.post1(ctx, c.config.Token, Token1{a.Token, secret}, url.Values{"oauth_verifier": {a.verifier}})
	if _, ok := errors.AsType[*unauthorized](err); ok { // the client's own credentials were accepted for the request token
		return nil, &tokenUsed{c.config.errorf(": access token: %w", err)}
	}
	if err != nil {
		return nil, c.config.errorf(": access token: %w", err)
	}
	return c.tokens(tokenIn(answer)), nil
}

// tokens returns an access token as a token response.
func (c *Client1) tokens(t Token1) *Tokens {
	token, _ := json.Marshal(t.Token) // a string has no error
	secret, _ := json.Marshal(t.Secret)
	return &Tokens{
		Extra: map[string]json.RawMessage{"oauth_token": token, "oauth_token_secret": secret}, Now: c.config.Now(),
	}
}

// token1 returns the access token in a token response.
func token1(t *Tokens) (token Token1) {
	token.Token, _ = exactjson.Text(t.Extra["oauth_token"])
	token.Secret, _ = exactjson.Text(t.Extra["oauth_token_secret"])
	return token
}

// Userinfo requests the profile of an access token's account.
func (c *Client1) Userinfo(ctx context.Context, t *Tokens) (map[string]any, error) {
	sign := func(r *http.Request) error { return c.sign(r, token1(t), nil) }
	answer, err := c.config.askUserinfo(ctx, c.config.Userinfo, sign)
	if err != nil {
		return nil, c.config.errorf(": userinfo: %w", err)
	}
	profile, err := exactjson.DecodeObjectTolerant(answer.Body, oidc.Trusted)
	if err != nil {
		return nil, c.config.errorf(": userinfo: %w", err)
	}
	return profile, nil
}

// SigningTransport returns a transport that signs further requests to the provider with an access token.
func (c *Client1) SigningTransport(t *Tokens) http.RoundTripper { return signing{c, token1(t)} }

type signing struct {
	client *Client1
	token  Token1
}

// RoundTrip implements [http.RoundTripper].
func (s signing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if err := s.client.sign(r, s.token, nil); err != nil {
		return nil, err
	}
	return s.client.config.transport().RoundTrip(r)
}

// sign adds the Authorization header.
func (c *Client1) sign(r *http.Request, t Token1, extra url.Values) error {
	signer := oauth1.Signer{
		Client: oauth1.Credentials{Token: c.config.ClientID, Secret: c.config.ClientSecret},
		Now:    c.config.Now, Nonce: func() (string, error) { return random.Hex(c.config.Rand, 16) },
	}
	return signer.Sign(r, oauth1.Credentials(t), extra)
}

// post1 sends a signed POST request and reads the form in the response, which must contain a token with its secret.
func (c *Client1) post1(ctx context.Context, e Endpoint, t Token1, extra url.Values) (url.Values, error) {
	request, err := e.request(ctx, http.MethodPost)
	if err != nil {
		return nil, err
	}
	if err := c.sign(request, t, extra); err != nil {
		return nil, err
	}
	retryOnClosedConnection(request)
	answer, err := c.config.HTTP.Do(ctx, request, upstream.NoRedirects)
	if err != nil {
		return nil, err
	}
	if answer.Status/100 != 2 {
		const mend = "401: check the key and the secret of the client, its callback URL, and this machine's clock"
		err := fmt.Errorf("status %d (%s)", answer.Status, mend)
		if answer.Status == http.StatusUnauthorized {
			return nil, &unauthorized{err}
		}
		return nil, err
	}
	form, err := url.ParseQuery(string(answer.Body))
	t = tokenIn(form)
	switch {
	case err != nil || len(form["oauth_token"]) != 1 || len(form["oauth_token_secret"]) != 1 || t.Token == "":
		return nil, errors.New("the response has no oauth_token with an oauth_token_secret")
	case len(t.Token)+len(t.Secret) > maxToken1:
		return nil, errors.New("the token is too long")
	}
	return form, nil
}

// tokenIn returns the token in a form.
func tokenIn(form url.Values) Token1 {
	return Token1{Token: form.Get("oauth_token"), Secret: form.Get("oauth_token_secret")}
}
