package oauth

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

// Redeem exchanges the code for tokens (RFC 6749 section 4.1.3); verifier is "" when no challenge was sent. The code
// goes out once, in the configured style of client authentication: a second attempt in another style would show the
// secret twice.
func (c *Client) Redeem(ctx context.Context, at Endpoints, code Code, verifier, redirectURI string) (*Tokens, error) {
	if code.value == "" {
		return nil, c.config.errorf(": %w", ErrNoCode)
	}
	endpoint := tokenEndpoint{&c.config, at}
	call, err := endpoint.call(code.value)
	if err != nil {
		return nil, err
	}
	call.conf.RedirectURL = redirectURI
	var options []oauth2.AuthCodeOption
	if verifier != "" {
		options = append(options, oauth2.VerifierOption(verifier))
	}
	_, err = call.conf.Exchange(call.context(ctx), code.value, options...)
	return endpoint.read(call, err)
}

// Refresh exchanges a refresh token for tokens (RFC 6749 section 6). The error of a provider that no longer accepts it
// is [ErrInvalidGrant].
func (c *Client) Refresh(ctx context.Context, at Endpoints, refreshToken string) (*Tokens, error) {
	endpoint := tokenEndpoint{&c.config, at}
	call, err := endpoint.call("")
	if err != nil {
		return nil, err
	}
	_, err = call.conf.TokenSource(call.context(ctx), &oauth2.Token{RefreshToken: refreshToken}).Token()
	return endpoint.read(call, err)
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

// tokenTransport sends a token request through the careful client and keeps the raw answer, which is then read with
// exact names and numbers.
type tokenTransport struct {
	client  *upstream.Client
	conform func([]byte) ([]byte, error)
	further url.Values // beside what x/oauth2 sends
	body    []byte
	err     error
	refused *Refusal
}

// RoundTrip implements [http.RoundTripper].
func (t *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	header := make(http.Header, len(r.Header)+1) // a transport changes no request that it is handed
	maps.Copy(header, r.Header)
	header["Accept"] = acceptJSON
	r = r.WithContext(r.Context())
	r.Header = header
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
		return answer.HTTP(r), nil
	}
	t.body = answer.Body
	if t.conform != nil {
		if t.body, t.err = t.conform(answer.Body); t.err != nil {
			return nil, t.err
		}
	}
	if t.body == nil { // an answer came, whatever was made of it
		t.body = []byte{}
	}
	return nil, errKept
}

var acceptJSON = []string{"application/json"}

// errKept is what x/oauth2 is told of an answer with status 2xx. What is in it [readTokens] finds out, strictly;
// x/oauth2 would read it twice more, by looser rules, for nothing.
var errKept = errors.New("the answer is kept for the caller")

// add has a parameter sent beside what x/oauth2 sends.
func (t *tokenTransport) add(name, value string) {
	if t.further == nil {
		t.further = url.Values{}
	}
	t.further.Set(name, value)
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
