package core

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/oidc"
	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

// grant is what an authorization code is redeemed with.
type grant struct{ code, verifier, redirectURI string }

// redeem exchanges the code for tokens (RFC 6749 section 4.1.3). The code goes out once, in the configured style of client
// authentication: a second attempt in another style would show the secret twice.
func (x *exchange) redeem(ctx context.Context, c *oauthClient, at endpoints, g grant) (*TokenSet, error) {
	tokenURL, err := url.Parse(at.token)
	if err != nil || at.token == "" {
		return nil, errorf(CallbackRouteError, "provider %q has no token endpoint", c.ID)
	}
	secret := c.ClientSecret
	if c.MakeClientSecret != nil && secret == "" {
		secret, err = guarded("MakeClientSecret", func() (Secret, error) { return c.MakeClientSecret(c.ClientID, x.now()) })
		if err != nil {
			return nil, errorf(CallbackRouteError, "provider %q: client secret: %w", c.ID, err)
		}
	}
	conf := oauth2.Config{
		ClientID: c.ClientID, ClientSecret: string(secret), RedirectURL: g.redirectURI,
		Endpoint: oauth2.Endpoint{TokenURL: tokenURL.String(), AuthStyle: oauth2.AuthStyleInParams},
	}
	var options []oauth2.AuthCodeOption
	switch c.ClientAuth {
	case ClientSecretBasic:
		conf.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	case ClientAuthNone:
		conf.ClientSecret = ""
	case ClientSecretJWT, PrivateKeyJWT:
		conf.ClientSecret = ""
		assertion, err := x.clientAssertion(c, at)
		if err != nil {
			return nil, errorf(CallbackRouteError, "provider %q: client assertion: %w", c.ID, err)
		}
		options = append(options,
			oauth2.SetAuthURLParam("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
			oauth2.SetAuthURLParam("client_assertion", assertion))
	}
	if g.verifier != "" {
		options = append(options, oauth2.VerifierOption(g.verifier))
	}
	for name, values := range c.Token.Params {
		options = append(options, oauth2.SetAuthURLParam(name, strings.ReplaceAll(strings.Join(values, " "), "{code}", g.code)))
	}
	capture := &tokenTransport{client: x.clientOf(c), conform: c.ConformToken}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: capture})
	_, err = conf.Exchange(ctx, g.code, options...)
	switch {
	case capture.err != nil: // says more than what x/oauth2 makes of it
		return nil, errorf(CallbackRouteError, "provider %q: token endpoint: %w", c.ID, capture.err)
	case capture.refused != nil:
		return nil, errorf(CallbackRouteError, "provider %q: token endpoint: %w", c.ID, capture.refused)
	case capture.body == nil:
		return nil, errorf(CallbackRouteError, "provider %q: token endpoint: %w", c.ID, withoutBody(err))
	}
	tokens, err := x.readTokens(capture.body)
	if err != nil {
		return nil, errorf(CallbackRouteError, "provider %q: token answer: %w", c.ID, err)
	}
	tokens.Provider = &c.OAuthProvider
	tokens.Client = &http.Client{Transport: x.clientOf(c).Transport(upstream.NoRedirects)}
	return tokens, nil
}

func (x *exchange) clientOf(c *oauthClient) *upstream.Client {
	if c.own != nil {
		return c.own
	}
	return x.client
}

// withoutBody keeps what an endpoint answered out of an error text: it may hold tokens.
func withoutBody(err error) error {
	var retrieve *oauth2.RetrieveError
	if errors.As(err, &retrieve) {
		return fmt.Errorf("refused with error %.100q", retrieve.ErrorCode)
	}
	return err
}

// tokenTransport sends a token request through the careful client and keeps the raw answer, which is then read with exact
// names and numbers.
type tokenTransport struct {
	client  *upstream.Client
	conform func([]byte) ([]byte, error)
	body    []byte
	err     error
	refused error
}

func (t *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", "application/json")
	answer, err := t.client.Do(r.Context(), r, upstream.NoRedirects)
	if err != nil {
		t.err = err
		return nil, err
	}
	if answer.Status/100 != 2 {
		t.refused = refusal(answer)
	} else {
		t.body = answer.Body
		if t.conform != nil {
			if t.body, t.err = t.conform(answer.Body); t.err != nil {
				return nil, t.err
			}
		}
	}
	return answer.HTTP(r), nil
}

// refusal names the error code of RFC 6749 section 5.2, and nothing else of the body.
func refusal(answer *upstream.Response) error {
	code := ""
	if members, err := decodeProfile(answer.Body); err == nil {
		code = members.Text("error")
	}
	return fmt.Errorf("status %d, error %.100q", answer.Status, code)
}

// readTokens reads a token answer (RFC 6749 section 5.1).
func (x *exchange) readTokens(body []byte) (*TokenSet, error) {
	t := &TokenSet{Now: x.now()}
	texts := map[string]func(string){
		"access_token":  func(s string) { t.AccessToken = Secret(s) },
		"refresh_token": func(s string) { t.RefreshToken = Secret(s) },
		"id_token":      func(s string) { t.IDToken = Secret(s) },
		"token_type":    func(s string) { t.TokenType = strings.ToLower(s) },
		"scope":         func(s string) { t.Scope = s },
	}
	err := exactjson.Object(body, func(name string, raw []byte) error {
		if set, known := texts[name]; known {
			text, ok := exactjson.Text(raw)
			if ok {
				set(text)
			} else if !exactjson.IsNull(raw) {
				return fmt.Errorf("%s is no text", name)
			}
			return nil
		}
		if name == "expires_in" && !exactjson.IsNull(raw) {
			n, ok := seconds(raw)
			if !ok {
				return fmt.Errorf("expires_in is no number of seconds")
			}
			t.ExpiresIn = &n
			t.ExpiresAt = t.Now.Add(time.Duration(n) * time.Second).Unix()
			return nil
		}
		t.Extra.keep(name, raw)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case t.AccessToken == "":
		return nil, errors.New("no access_token")
	case t.TokenType == "":
		return nil, errors.New("no token_type: a ConformToken function can add it")
	case t.TokenType != "bearer":
		return nil, fmt.Errorf("token_type %.20q is not supported, only bearer", t.TokenType)
	}
	return t, nil
}

// seconds reads a number of seconds, also from the text that some providers send.
func seconds(raw []byte) (int64, bool) {
	if text, ok := exactjson.Text(raw); ok {
		raw = []byte(text)
	}
	n, ok := exactjson.Int64(raw)
	const tenYears = 10 * 366 * 24 * 3600
	return n, ok && n >= 0 && n <= tenYears
}

// userinfo asks who the access token belongs to (OpenID Connect Core section 5.3).
func (x *exchange) userinfo(ctx context.Context, c *oauthClient, at endpoints, tokens *TokenSet) (Profile, error) {
	e := Endpoint{URL: at.userinfo, Params: c.Userinfo.Params}
	if c.FetchUserinfo != nil {
		return fetchUserinfo(ctx, c, e, tokens)
	}
	answer, err := x.askUserinfo(ctx, c, e, func(r *http.Request) error {
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
	return x.docsOf(c).VerifyUserinfo(ctx, string(answer.Body), expect)
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
func (x *exchange) askUserinfo(ctx context.Context, c *oauthClient, e Endpoint, authorize func(*http.Request) error) (*upstream.Response, error) {
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
	answer, err := x.clientOf(c).Do(ctx, request, upstream.NoRedirects)
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

// clientAssertion makes the JWT that proves the client (RFC 7523, OpenID Connect Core section 9).
func (x *exchange) clientAssertion(c *oauthClient, at endpoints) (string, error) {
	id, err := x.uuid()
	if err != nil {
		return "", err
	}
	audience := jwt.Audience{at.token}
	if c.Issuer != "" {
		audience = jwt.Audience{c.Issuer, at.token}
	}
	now := x.now()
	claims := jwt.Claims{
		Issuer: c.ClientID, Subject: c.ClientID, Audience: audience, ID: id,
		IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(time.Minute)),
	}
	if c.ClientAuth == ClientSecretJWT {
		return signWithSecret(string(c.ClientSecret), claims)
	}
	alg, err := signatureAlgorithm(c.ClientKey)
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: c.ClientKey, KeyID: c.ClientKeyID}}, nil)
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(claims).Serialize()
}
