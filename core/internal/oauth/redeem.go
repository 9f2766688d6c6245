package oauth

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

// Redeem exchanges the code for tokens (RFC 6749 section 4.1.3); verifier is "" when no challenge was sent. The code
// goes out once, in the configured style of client authentication: a second attempt in another style would show the
// secret twice.
func (c *Client) Redeem(ctx context.Context, at Endpoints, code Code, verifier, redirectURI string) (*Tokens, error) {
	if code.value == "" {
		return nil, c.errorf(": %w", ErrNoCode)
	}
	var grant form
	grant.set("grant_type", "authorization_code")
	grant.set("code", code.value)
	if redirectURI != "" {
		grant.set("redirect_uri", redirectURI)
	}
	if verifier != "" {
		grant.set("code_verifier", verifier)
	}
	return c.askForTokens(ctx, at, &grant, code.value)
}

// Refresh exchanges a refresh token for tokens (RFC 6749 section 6). The error of a provider that no longer accepts it
// is [ErrInvalidGrant].
func (c *Client) Refresh(ctx context.Context, at Endpoints, refreshToken string) (*Tokens, error) {
	var grant form
	grant.set("grant_type", "refresh_token")
	grant.set("refresh_token", refreshToken)
	return c.askForTokens(ctx, at, &grant, "")
}

// form is the body of a request to a token endpoint, with room for what most have.
type form struct {
	parameters
	room [8]parameter
}

func (f *form) set(name, value string) {
	if f.parameters == nil {
		f.parameters = f.room[:0]
	}
	f.parameters.set(name, value)
}

// askForTokens sends a grant to the token endpoint, with the proof of the client and the parameters that the provider
// wants besides, and reads the answer. A parameter with {code} is left out where there is no code.
func (c *Client) askForTokens(ctx context.Context, at Endpoints, grant *form, code string) (*Tokens, error) {
	header := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/x-www-form-urlencoded"}}
	if at.token == "" {
		return nil, c.errorf(" has no token endpoint")
	}
	if err := c.authenticate(at, grant, header); err != nil {
		return nil, err
	}
	for name, values := range c.config.Token.Params {
		if value := strings.Join(values, " "); code != "" || !strings.Contains(value, "{code}") {
			grant.set(name, strings.ReplaceAll(value, "{code}", code))
		}
	}
	body := bytes.NewReader(grant.appendTo(make([]byte, 0, 512)))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at.token, body)
	if err != nil {
		return nil, c.errorf(" has no token endpoint")
	}
	request.Header = header
	answer, err := c.config.HTTP.Do(ctx, request, upstream.NoRedirects)
	if err != nil {
		return nil, c.errorf(": token endpoint: %w", err)
	}
	return c.readGrant(answer)
}

// authenticate adds the proof of the client to a request for tokens (RFC 6749 section 2.3.1).
func (c *Client) authenticate(at Endpoints, grant *form, header http.Header) (err error) {
	o := &c.config
	secret := o.ClientSecret
	if o.MakeClientSecret != nil && secret == "" {
		if secret, err = o.MakeClientSecret(); err != nil {
			return c.errorf(": client secret: %w", err)
		}
	}
	if o.ClientAuth == ClientSecretBasic {
		pair := url.QueryEscape(o.ClientID) + ":" + url.QueryEscape(secret)
		header["Authorization"] = []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(pair))}
		return nil
	}
	if o.ClientID != "" {
		grant.set("client_id", o.ClientID)
	}
	switch o.ClientAuth {
	case ClientAuthNone:
	case ClientSecretJWT, PrivateKeyJWT:
		assertion, err := c.assertion(at)
		if err != nil {
			return c.errorf(": client assertion: %w", err)
		}
		grant.set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		grant.set("client_assertion", assertion)
	default:
		if secret != "" {
			grant.set("client_secret", secret)
		}
	}
	return nil
}

// readGrant reads what the token endpoint answered, with exact names and numbers.
func (c *Client) readGrant(answer *upstream.Response) (*Tokens, error) {
	if answer.Status/100 != 2 {
		refused := refusalOf(answer)
		return nil, c.errorf(": token endpoint: %w%s", refused, c.mend(refused))
	}
	body := answer.Body
	if c.config.ConformToken != nil {
		var err error
		if body, err = c.config.ConformToken(body); err != nil {
			return nil, c.errorf(": token endpoint: %w", err)
		}
	}
	tokens, err := readTokens(body, c.config.Now())
	if err != nil {
		said := refusalOf(&upstream.Response{Status: http.StatusOK, Body: body})
		if errors.Is(said, ErrInvalidGrant) { // GitHub says so with status 200
			err = said
		}
		return nil, c.errorf(": token answer: %w%s", err, c.mend(said))
	}
	return tokens, nil
}
