package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/latchkey-go/latchkey/internal/upstream"
)

// Redeem exchanges the code for tokens (RFC 6749 section 4.1.3). verifier is "" if no challenge was sent. The code is
// sent once, with the configured client authentication method: a second attempt with another method would reveal the
// secret twice.
func (c *Client) Redeem(ctx context.Context, at Endpoints, code Code, verifier, redirectURI string) (*Tokens, error) {
	if code.value == "" {
		return nil, c.config.errorf(": %w", ErrNoCode)
	}
	t := &tokenRequest{Config: &c.config, at: at, style: oauth2.AuthStyleInParams}
	params, err := t.params(code.value)
	if err != nil {
		return nil, err
	}
	options := make([]oauth2.AuthCodeOption, 0, len(params)+1)
	if verifier != "" {
		options = append(options, oauth2.VerifierOption(verifier))
	}
	for name := range params {
		options = append(options, oauth2.SetAuthURLParam(name, params.Get(name)))
	}
	config := oauth2.Config{
		ClientID: c.config.ClientID, ClientSecret: t.secret, RedirectURL: redirectURI,
		Endpoint: oauth2.Endpoint{TokenURL: at.token, AuthStyle: t.style},
	}
	_, err = config.Exchange(t.context(ctx), code.value, options...)
	return t.result(err)
}

// Refresh exchanges a refresh token for new tokens (RFC 6749 section 6). If the provider no longer accepts it, the
// error is [ErrInvalidGrant].
func (c *Client) Refresh(ctx context.Context, at Endpoints, refreshToken string) (*Tokens, error) {
	t := &tokenRequest{Config: &c.config, at: at, refresh: true, style: oauth2.AuthStyleInParams}
	params, err := t.params("")
	if err != nil {
		return nil, err
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refreshToken}}
	maps.Copy(form, params)
	// The refresh of oauth2.Config accepts no parameters, such as a client assertion. This Config sends any grant type.
	config := clientcredentials.Config{
		ClientID: c.config.ClientID, ClientSecret: t.secret, TokenURL: at.token, AuthStyle: t.style, EndpointParams: form,
	}
	_, err = config.Token(t.context(ctx))
	return t.result(err)
}

// tokenRequest is one token request. It is the transport of the HTTP client that x/oauth2 sends the request with. It
// reads the response, because x/oauth2 would accept more: see docs/decisions.md.
type tokenRequest struct {
	*Config
	at      Endpoints
	refresh bool // it is for a refresh token, not for a code
	style   oauth2.AuthStyle
	secret  string // the client secret that x/oauth2 sends; may be empty

	tokens *Tokens // the response; nil if there is none
	err    error
}

// params returns the form fields that x/oauth2 does not know: client assertions and the provider's parameters. code
// replaces {code} in a parameter. If it is empty, the parameter is omitted.
func (t *tokenRequest) params(code string) (url.Values, error) {
	if t.at.token == "" {
		return nil, t.errorf(" has no token endpoint")
	}
	params := url.Values{}
	if err := t.authenticate(params); err != nil {
		return nil, err
	}
	for name, values := range t.Token.Params {
		if value := strings.Join(values, " "); code != "" || !strings.Contains(value, "{code}") {
			params.Set(name, strings.ReplaceAll(value, "{code}", code))
		}
	}
	return params, nil
}

// authenticate adds the client credentials.
func (t *tokenRequest) authenticate(params url.Values) (err error) {
	secret := t.ClientSecret
	if t.MakeClientSecret != nil && secret == "" {
		if secret, err = t.MakeClientSecret(); err != nil {
			return t.errorf(": client secret: %w", err)
		}
	}
	switch t.ClientAuth {
	case ClientAuthNone:
	case ClientSecretJWT, PrivateKeyJWT:
		assertion, err := t.assertion()
		if err != nil {
			return t.errorf(": client assertion: %w", err)
		}
		params.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		params.Set("client_assertion", assertion)
	case ClientSecretBasic:
		t.style, t.secret = oauth2.AuthStyleInHeader, secret
	default:
		t.secret = secret
	}
	return nil
}

// context returns the context that makes x/oauth2 send the request with t.
func (t *tokenRequest) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: t})
}

// result returns the tokens. err is the error of x/oauth2, which contains the endpoint's URL if t has a shorter one.
func (t *tokenRequest) result(err error) (*Tokens, error) {
	switch {
	case t.err != nil:
		return nil, t.err
	case err != nil:
		return nil, t.errorf(": token endpoint: %w", err)
	}
	return t.tokens, nil
}

// RoundTrip implements [http.RoundTripper]. It sends the request with the limits of [upstream.Client] and reads the
// response. x/oauth2 receives only the members that were read, each once and with the right type.
func (t *tokenRequest) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Accept", "application/json")
	retryOnClosedConnection(request)
	answer, err := t.HTTP.Do(request.Context(), request, upstream.NoRedirects)
	if err != nil {
		t.err = t.errorf(": token endpoint: %w", err)
		return nil, t.err
	}
	if t.tokens, t.err = t.read(request, answer); t.err != nil {
		return nil, t.err
	}
	answer.Header = http.Header{"Content-Type": {"application/json"}}
	//nolint:gosec // x/oauth2 reads this body instead of the provider's; it is not sent anywhere
	answer.Body, err = json.Marshal(oauth2.Token{AccessToken: t.tokens.AccessToken, TokenType: t.tokens.TokenType})
	return answer.HTTP(request), err
}

// retryOnClosedConnection allows net/http to send a POST request again, on another connection, if a reused connection
// fails before the first byte of the response. Servers close idle connections, and a request sent at that moment gets
// no response. net/http requires this header for a retry; because its list is empty, the header is not sent.
//
// A retry cannot make things worse. If the server did not see the first request, which is almost always the case, the
// second one succeeds. If it did, the code or the rotated refresh token is already used and the response with the new
// tokens is lost. Without the retry, every later refresh would send the same token anyway.
func retryOnClosedConnection(r *http.Request) { r.Header["Idempotency-Key"] = nil }

// read reads the response to a token request.
func (t *tokenRequest) read(request *http.Request, answer *upstream.Response) (tokens *Tokens, err error) {
	if answer.Status/100 != 2 {
		refused := t.refusalOf(request, answer)
		return nil, t.errorf(": token endpoint: %w%s", refused, t.clientHint(refused))
	}
	body := answer.Body
	if t.ConformToken != nil {
		if body, err = t.ConformToken(body); err != nil {
			return nil, t.errorf(": token endpoint: %w", err)
		}
	}
	if tokens, err = readTokens(body, t.Now()); err == nil {
		return tokens, nil
	}
	// Some services, such as GitHub and Slack, send errors with status 200.
	refused := t.refusalOf(request, answer)
	switch {
	case errors.Is(refused, ErrInvalidGrant):
		err = refused
	case isCode(refused.Code):
		err = fmt.Errorf("%w: %w", err, refused)
	}
	return nil, t.errorf(": token response: %w%s", err, t.clientHint(refused))
}

// secretsIn returns the secrets in a token request, which must not be logged. A service may repeat them in an error.
func secretsIn(request *http.Request) []string {
	var found []string
	if body, err := request.GetBody(); err == nil {
		raw, _ := io.ReadAll(body)
		fields, _ := url.ParseQuery(string(raw))
		for _, name := range []string{"code", "code_verifier", "refresh_token", "client_secret", "client_assertion"} {
			found = append(found, fields.Get(name))
		}
	}
	if id, secret, ok := request.BasicAuth(); ok {
		_, credentials, _ := strings.Cut(request.Header.Get("Authorization"), " ")
		plain, _ := url.QueryUnescape(secret)
		found = append(found, credentials, id+":"+secret, secret, plain)
	}
	return found
}
