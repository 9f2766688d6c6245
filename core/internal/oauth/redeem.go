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
)

// Redeem exchanges the code for tokens (RFC 6749 section 4.1.3); verifier is "" when no challenge was sent. The code
// goes out once, in the configured style of client authentication: a second attempt in another style would show the
// secret twice.
func (c *Client) Redeem(ctx context.Context, at Endpoints, code Code, verifier, redirectURI string) (*Tokens, error) {
	if code.value == "" {
		return nil, c.config.errorf(": %w", ErrNoCode)
	}
	return tokenEndpoint{&c.config, at}.ask(ctx, code.value, func(call *tokenCall) error {
		call.conf.RedirectURL = redirectURI
		var options []oauth2.AuthCodeOption
		if verifier != "" {
			options = append(options, oauth2.VerifierOption(verifier))
		}
		_, err := call.conf.Exchange(call, code.value, options...)
		return err
	})
}

// Refresh exchanges a refresh token for tokens (RFC 6749 section 6). The error of a provider that no longer accepts it
// is [ErrInvalidGrant].
func (c *Client) Refresh(ctx context.Context, at Endpoints, refreshToken string) (*Tokens, error) {
	return tokenEndpoint{&c.config, at}.ask(ctx, "", func(call *tokenCall) error {
		_, err := call.conf.TokenSource(call, &oauth2.Token{RefreshToken: refreshToken}).Token()
		return err
	})
}

// tokenCall is a request to a token endpoint, whatever is granted. x/oauth2 makes it; it is sent when x/oauth2 and its
// [http.Client] are done, so that nothing of theirs waits with it for the provider. To them it is the context, which
// names the client.
type tokenCall struct {
	context.Context
	conf    oauth2.Config
	further url.Values    // beside what x/oauth2 sends
	made    *http.Request // that x/oauth2 would have sent
}

// Value implements [context.Context].
func (t *tokenCall) Value(key any) any {
	switch key {
	case oauth2.HTTPClient:
		return keepingClient
	case keptBy{}:
		return t
	}
	return t.Context.Value(key)
}

// keptBy is the key under which the context of a request has its tokenCall.
type keptBy struct{}

// keepingClient keeps the requests that x/oauth2 makes, and sends none.
var keepingClient = &http.Client{Transport: keeper{}}

type keeper struct{}

// RoundTrip implements [http.RoundTripper].
func (keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Context().Value(keptBy{}).(*tokenCall).made = r
	return nil, errKept
}

// errKept is what x/oauth2 is told. What the provider answers [readTokens] finds out, strictly; x/oauth2 would read it
// twice more, by looser rules, for nothing.
var errKept = errors.New("the request is kept for the caller")

// request is the request that x/oauth2 has made, completed; err is what it says of that.
func (t *tokenCall) request(err error) (*http.Request, error) {
	if t.made == nil {
		return nil, err
	}
	t.made.Header["Accept"] = acceptJSON
	return t.made, t.addFurther(t.made)
}

var acceptJSON = []string{"application/json"}

// add has a parameter sent beside what x/oauth2 sends.
func (t *tokenCall) add(name, value string) {
	if t.further == nil {
		t.further = url.Values{}
	}
	t.further.Set(name, value)
}

// addFurther puts more parameters into the form.
func (t *tokenCall) addFurther(r *http.Request) error {
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
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
	r.Body, err = r.GetBody()
	r.ContentLength = int64(len(body))
	return err
}
