package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/internal/upstream"
)

// tokenEndpoint is the token endpoint of a provider, with the client's configuration.
type tokenEndpoint struct {
	*Config
	at   Endpoints
	last *atomic.Pointer[tokenForm] // the cached form for codes
}

// ask requests tokens for a grant. value is the code or the refresh token. verifier may be empty.
func (t tokenEndpoint) ask(ctx context.Context, g grant, value, verifier string) (*Tokens, error) {
	form, err := t.form(g)
	if err != nil {
		return nil, err
	}
	answer, err := t.HTTP.Ask(ctx, upstream.NoRedirects, func(ctx context.Context) (*http.Request, error) {
		return form.filled(ctx, value, verifier)
	})
	if err != nil {
		return nil, t.errorf(": token endpoint: %w", err)
	}
	return t.read(answer, g, func() []string { return append(form.secrets(), value, verifier) })
}

// client returns the configuration for x/oauth2 and further form fields: client credentials that x/oauth2 does not
// support, and the provider's parameters. A parameter that contains {code} is omitted if there is no code.
func (t tokenEndpoint) client(g grant) (*oauth2.Config, url.Values, error) {
	if t.at.token == "" {
		return nil, nil, t.errorf(" has no token endpoint")
	}
	further := url.Values{}
	conf := &oauth2.Config{
		ClientID: t.ClientID, RedirectURL: g.redirectURI,
		Endpoint: oauth2.Endpoint{TokenURL: t.at.token, AuthStyle: oauth2.AuthStyleInParams},
	}
	if err := t.authenticate(conf, further); err != nil {
		return nil, nil, err
	}
	for name, values := range t.Token.Params {
		if value := strings.Join(values, " "); !g.refresh || !strings.Contains(value, "{code}") {
			further.Set(name, strings.ReplaceAll(value, "{code}", markValue))
		}
	}
	return conf, further, nil
}

// authenticate adds the client credentials.
func (t tokenEndpoint) authenticate(conf *oauth2.Config, further url.Values) (err error) {
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
		further.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		further.Set("client_assertion", assertion)
	case ClientSecretBasic:
		conf.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
		conf.ClientSecret = secret
	default:
		conf.ClientSecret = secret
	}
	return nil
}

// read reads the response to a token request. hidden returns the secrets of the request.
func (t tokenEndpoint) read(answer *upstream.Response, g grant, hidden func() []string) (tokens *Tokens, err error) {
	if answer.Status/100 != 2 {
		refused := t.refusalOf(answer, g, hidden)
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
	refused := t.refusalOf(answer, g, hidden)
	switch {
	case errors.Is(refused, ErrInvalidGrant):
		err = refused
	case isCode(refused.Code):
		err = fmt.Errorf("%w: %w", err, refused)
	}
	return nil, t.errorf(": token response: %w%s", err, t.clientHint(refused))
}
