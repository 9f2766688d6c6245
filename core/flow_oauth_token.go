package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
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
func (a *Auth) redeem(ctx context.Context, c *oauthClient, at endpoints, g grant) (*TokenSet, error) {
	call, err := a.tokenCall(c, at, g.code)
	if err != nil {
		return nil, err
	}
	call.conf.RedirectURL = g.redirectURI
	var options []oauth2.AuthCodeOption
	if g.verifier != "" {
		options = append(options, oauth2.VerifierOption(g.verifier))
	}
	_, err = call.conf.Exchange(call.context(ctx), g.code, options...)
	return a.answered(c, call, err)
}

// tokenCall is a request to a token endpoint, whatever is granted.
type tokenCall struct {
	conf oauth2.Config
	tokenTransport
}

// context makes x/oauth2 send the call through its transport.
func (t *tokenCall) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: &t.tokenTransport})
}

// tokenCall prepares a call with the proof of the client and the parameters that the provider wants besides. A parameter with {code}
// is left out where there is no code.
func (a *Auth) tokenCall(c *oauthClient, at endpoints, code string) (*tokenCall, error) {
	tokenURL, err := url.Parse(at.token)
	if err != nil || at.token == "" {
		return nil, errorf(CallbackRouteError, "provider %q has no token endpoint", c.ID)
	}
	secret := c.ClientSecret
	if c.MakeClientSecret != nil && secret == "" {
		secret, err = guarded("MakeClientSecret", func() (Secret, error) { return c.MakeClientSecret(c.ClientID, a.now()) })
		if err != nil {
			return nil, errorf(CallbackRouteError, "provider %q: client secret: %w", c.ID, err)
		}
	}
	call := &tokenCall{conf: oauth2.Config{
		ClientID: c.ClientID, ClientSecret: string(secret),
		Endpoint: oauth2.Endpoint{TokenURL: tokenURL.String(), AuthStyle: oauth2.AuthStyleInParams},
	}}
	call.client, call.conform, call.further = a.clientOf(c), c.ConformToken, url.Values{}
	switch c.ClientAuth {
	case ClientSecretBasic:
		call.conf.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	case ClientAuthNone:
		call.conf.ClientSecret = ""
	case ClientSecretJWT, PrivateKeyJWT:
		call.conf.ClientSecret = ""
		assertion, err := a.clientAssertion(c, at)
		if err != nil {
			return nil, errorf(CallbackRouteError, "provider %q: client assertion: %w", c.ID, err)
		}
		call.further.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		call.further.Set("client_assertion", assertion)
	}
	for name, values := range c.Token.Params {
		if value := strings.Join(values, " "); code != "" || !strings.Contains(value, "{code}") {
			call.further.Set(name, strings.ReplaceAll(value, "{code}", code))
		}
	}
	return call, nil
}

// answered reads what the token endpoint answered; err is what x/oauth2 made of it.
func (a *Auth) answered(c *oauthClient, call *tokenCall, err error) (*TokenSet, error) {
	switch {
	case call.err != nil: // says more than what x/oauth2 makes of it
		return nil, errorf(CallbackRouteError, "provider %q: token endpoint: %w", c.ID, call.err)
	case call.refused != nil:
		return nil, errorf(CallbackRouteError, "provider %q: token endpoint: %w", c.ID, call.refused)
	case call.body == nil:
		return nil, errorf(CallbackRouteError, "provider %q: token endpoint: %w", c.ID, withoutBody(err))
	}
	tokens, err := a.readTokens(call.body)
	if err != nil {
		if said := refusalOf(&upstream.Response{Status: http.StatusOK, Body: call.body}); errors.Is(said, ErrInvalidGrant) { // GitHub says so with status 200
			err = said
		}
		return nil, errorf(CallbackRouteError, "provider %q: token answer: %w", c.ID, err)
	}
	tokens.Provider = &c.OAuthProvider
	tokens.Client = &http.Client{Transport: a.clientOf(c).Transport(upstream.NoRedirects)}
	return tokens, nil
}

func (a *Auth) clientOf(c *oauthClient) *upstream.Client {
	if c.own != nil {
		return c.own
	}
	return a.client
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
	further url.Values // beside what x/oauth2 sends
	body    []byte
	err     error
	refused error
}

func (t *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", "application/json")
	if err := t.addFurther(r); err != nil {
		return nil, err
	}
	answer, err := t.client.Do(r.Context(), r, upstream.NoRedirects)
	if err != nil {
		t.err = err
		return nil, err
	}
	if answer.Status/100 != 2 {
		t.refused = refusalOf(answer)
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

// addFurther puts more parameters into the form.
func (t *tokenTransport) addFurther(r *http.Request) error {
	if len(t.further) == 0 {
		return nil
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	fields, err := url.ParseQuery(string(raw))
	if err != nil {
		return err
	}
	maps.Copy(fields, t.further)
	body := fields.Encode()
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return nil
}

// refusal is what a token endpoint says when it gives no tokens: the error code of RFC 6749 section 5.2, and nothing else of the body.
type refusal struct {
	status int
	code   string
}

func refusalOf(answer *upstream.Response) error {
	r := &refusal{status: answer.Status}
	if members, err := decodeProfile(answer.Body); err == nil {
		r.code = members.Text("error")
	}
	return r
}

// Error implements error.
func (r *refusal) Error() string { return fmt.Sprintf("status %d, error %.100q", r.status, r.code) }

// Is tells whether the grant is at its end.
func (r *refusal) Is(target error) bool {
	return target == ErrInvalidGrant && r.code == "invalid_grant"
}

// readTokens reads a token answer (RFC 6749 section 5.1).
func (a *Auth) readTokens(body []byte) (*TokenSet, error) {
	t := &TokenSet{Now: a.now()}
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

// clientAssertion makes the JWT that proves the client (RFC 7523, OpenID Connect Core section 9).
func (a *Auth) clientAssertion(c *oauthClient, at endpoints) (string, error) {
	id, err := a.uuid()
	if err != nil {
		return "", err
	}
	audience := jwt.Audience{at.token}
	if c.Issuer != "" {
		audience = jwt.Audience{c.Issuer, at.token}
	}
	now := a.now()
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
