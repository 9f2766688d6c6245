package oauth

import (
	"errors"
	"fmt"
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
	call.client, call.conform = t.HTTP, t.ConformToken
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

// read reads what the token endpoint answered; err is what x/oauth2 made of it.
func (t tokenEndpoint) read(call *tokenCall, err error) (*Tokens, error) {
	switch {
	case call.err != nil: // says more than what x/oauth2 makes of it
		return nil, t.errorf(": token endpoint: %w", call.err)
	case call.refused != nil:
		return nil, t.errorf(": token endpoint: %w%s", call.refused, t.mend(call.refused))
	case call.body == nil:
		return nil, t.errorf(": token endpoint: %w", withoutBody(err))
	}
	tokens, err := readTokens(call.body, t.Now())
	if err != nil {
		said := refusalOf(&upstream.Response{Status: http.StatusOK, Body: call.body})
		if errors.Is(said, ErrInvalidGrant) { // GitHub says so with status 200
			err = said
		}
		return nil, t.errorf(": token answer: %w%s", err, t.mend(said))
	}
	return tokens, nil
}

// withoutBody keeps what an endpoint answered out of an error text: it may hold tokens.
func withoutBody(err error) error {
	var retrieve *oauth2.RetrieveError
	if errors.As(err, &retrieve) {
		return fmt.Errorf("refused with error %.100q", retrieve.ErrorCode)
	}
	return err
}
