package oauth

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

// tokenEndpoint is the token endpoint of a provider as the client asks it.
type tokenEndpoint struct {
	*Config
	at Endpoints
}

// ask sends what x/oauth2 makes of a grant, and reads the answer. code is empty where none is granted.
func (t tokenEndpoint) ask(ctx context.Context, code string, grant func(*tokenCall) error) (*Tokens, error) {
	call, err := t.call(code)
	if err != nil {
		return nil, err
	}
	answer, err := t.HTTP.Ask(ctx, upstream.NoRedirects, func(ctx context.Context) (*http.Request, error) {
		call.Context = ctx
		return call.request(grant(call))
	})
	if err != nil {
		return nil, t.errorf(": token endpoint: %w", err)
	}
	return t.read(answer)
}

// call prepares a call with the proof of the client and the parameters that the provider wants besides. A
// parameter with {code} is left out where there is no code.
func (t tokenEndpoint) call(code string) (*tokenCall, error) {
	if t.at.token == "" {
		return nil, t.errorf(" has no token endpoint")
	}
	call := &tokenCall{conf: oauth2.Config{
		ClientID: t.ClientID,
		Endpoint: oauth2.Endpoint{TokenURL: t.at.token, AuthStyle: oauth2.AuthStyleInParams},
	}}
	if err := t.authenticate(call); err != nil {
		return nil, err
	}
	for name, values := range t.Token.Params {
		if value := strings.Join(values, " "); code != "" || !strings.Contains(value, "{code}") {
			call.add(name, strings.ReplaceAll(value, "{code}", code))
		}
	}
	return call, nil
}

// authenticate adds the proof of the client to a call.
func (t tokenEndpoint) authenticate(call *tokenCall) (err error) {
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
		call.add("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		call.add("client_assertion", assertion)
	case ClientSecretBasic:
		call.conf.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
		call.conf.ClientSecret = secret
	default:
		call.conf.ClientSecret = secret
	}
	return nil
}

// read reads what the token endpoint answered.
func (t tokenEndpoint) read(answer *upstream.Response) (tokens *Tokens, err error) {
	if answer.Status/100 != 2 {
		refused := refusalOf(answer)
		return nil, t.errorf(": token endpoint: %w%s", refused, t.mend(refused))
	}
	body := answer.Body
	if t.ConformToken != nil {
		if body, err = t.ConformToken(body); err != nil {
			return nil, t.errorf(": token endpoint: %w", err)
		}
	}
	if tokens, err = readTokens(body, t.Now()); err != nil {
		said := refusalOf(&upstream.Response{Status: http.StatusOK, Body: body})
		if errors.Is(said, ErrInvalidGrant) { // GitHub says so with status 200
			err = said
		}
		return nil, t.errorf(": token answer: %w%s", err, t.mend(said))
	}
	return tokens, nil
}
