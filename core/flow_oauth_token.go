package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
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
		return nil, errorf(CallbackRouteError, "provider %q: token endpoint: %w%s", c.ID, call.refused, c.mend(call.refused))
	case call.body == nil:
		return nil, errorf(CallbackRouteError, "provider %q: token endpoint: %w", c.ID, withoutBody(err))
	}
	tokens, err := a.readTokens(call.body)
	if err != nil {
		if said := refusalOf(&upstream.Response{Status: http.StatusOK, Body: call.body}); errors.Is(said, ErrInvalidGrant) { // GitHub says so with status 200
			err = said
		}
		return nil, errorf(CallbackRouteError, "provider %q: token answer: %w%s", c.ID, err, c.mend(refusalOf(&upstream.Response{Status: http.StatusOK, Body: call.body})))
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

// mend says which fields to look at when a token endpoint does not take this client (RFC 6749 section 5.2; GitHub has a word of its
// own), empty for other refusals.
func (c *oauthClient) mend(err error) string {
	var r *refusal
	if !errors.As(err, &r) {
		return ""
	}
	switch r.code {
	case "invalid_client", "unauthorized_client", "incorrect_client_credentials":
	default:
		return ""
	}
	fields := fmt.Sprintf("ClientID and ClientSecret (%s, %s)", EnvName(c.ID, "ID"), EnvName(c.ID, "SECRET"))
	switch c.ClientAuth {
	case PrivateKeyJWT:
		fields = fmt.Sprintf("ClientID (%s) and ClientKey (%s)", EnvName(c.ID, "ID"), EnvName(c.ID, "PRIVATE_KEY"))
	case ClientAuthNone:
		fields = fmt.Sprintf("ClientID (%s), and whether the client is registered as a public one", EnvName(c.ID, "ID"))
	}
	return fmt.Sprintf(": the provider does not take this client: check %s, and ClientAuth, which is %s", fields, c.ClientAuth)
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
		exactjson.Keep(&t.Extra, name, raw)
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
