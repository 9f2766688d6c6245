package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/oidc"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

// UserinfoURL returns the userinfo endpoint with its parameters, for an application that sends the request itself.
func (c *Client) UserinfoURL(at Endpoints) (string, error) {
	address, err := c.userinfoOf(at).withParams()
	if err != nil {
		return "", c.config.errorf(": userinfo: %w", err)
	}
	return address, nil
}

// HasUserinfo reports whether the provider has a userinfo endpoint.
func (c *Client) HasUserinfo(at Endpoints) bool { return c.userinfoOf(at).URL != "" }

// Userinfo requests the profile of an access token's account (OpenID Connect Core section 5.3). A signed response is
// verified. The caller must check that the profile and the ID token have the same subject.
func (c *Client) Userinfo(ctx context.Context, at Endpoints, accessToken string) (map[string]any, error) {
	answer, err := c.config.askUserinfo(ctx, c.userinfoOf(at), func(r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+accessToken)
		return nil
	})
	if err != nil {
		return nil, c.config.errorf(": userinfo: %w", err)
	}
	profile, err := c.readUserinfo(ctx, at, answer)
	if err != nil {
		return nil, c.config.errorf(": userinfo: %w", err)
	}
	return profile, nil
}

// userinfoOf returns the configured endpoint, or else the discovered one.
func (c *Client) userinfoOf(at Endpoints) Endpoint {
	return Endpoint{URL: or(c.config.Userinfo.URL, at.userinfo), Params: c.config.Userinfo.Params}
}

// readUserinfo decodes a JSON response, or verifies a signed one.
func (c *Client) readUserinfo(ctx context.Context, at Endpoints, answer *upstream.Response) (map[string]any, error) {
	o := &c.config
	if o.UserinfoAlg == "" && !isJWT(answer.Header.Get("Content-Type")) {
		return exactjson.DecodeObjectTolerant(answer.Body, oidc.Trusted)
	}
	if at.metadata == nil {
		return nil, errors.New("the response is signed, but there is no issuer with keys to verify it")
	}
	expect := oidc.Expect{Metadata: at.metadata, ClientID: o.ClientID, ClientSecret: o.ClientSecret}
	if o.UserinfoAlg != "" {
		expect.Algs = []string{o.UserinfoAlg}
	}
	return o.Documents.VerifyUserinfo(ctx, string(answer.Body), expect)
}

// Send sends a request of the application with a client that limits the size of responses, and returns the body. The
// status must be 200 to 299. Errors contain the host, but no other part of the URL.
func Send(client *http.Client, request *http.Request) ([]byte, error) {
	if request.Header.Get("Accept") == "" {
		request.Header.Set("Accept", "application/json")
	}
	response, err := client.Do(request) //nolint:gosec // the application makes the URL
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the URL, which contains the token for some providers
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", request.URL.Host, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s answered status %d", request.URL.Host, response.StatusCode)
	}
	return io.ReadAll(response.Body)
}

// isJWT reports whether a Content-Type is that of a signed response.
func isJWT(contentType string) bool {
	if contentType == "application/json" {
		return false
	}
	media, _, _ := mime.ParseMediaType(contentType)
	return media == "application/jwt"
}

// askUserinfo sends a request to a userinfo endpoint. sign adds the credentials.
func (c *Config) askUserinfo(
	ctx context.Context, e Endpoint, sign func(*http.Request) error,
) (*upstream.Response, error) {
	if e.URL == "" {
		return nil, errors.New("there is no userinfo endpoint")
	}
	r, err := e.request(ctx, http.MethodGet)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json, application/jwt")
	if err := sign(r); err != nil {
		return nil, err
	}
	answer, err := c.HTTP.Do(ctx, r, upstream.NoRedirects)
	if err != nil {
		return nil, err
	}
	if answer.Status/100 != 2 {
		return nil, fmt.Errorf("status %d", answer.Status)
	}
	return answer, nil
}
