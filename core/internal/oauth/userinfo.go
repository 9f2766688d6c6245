package oauth

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/oidc"
	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

// UserinfoURL is the userinfo endpoint with its parameters, for an application that asks there itself.
func (c *Client) UserinfoURL(at Endpoints) (string, error) {
	address, err := c.userinfoOf(at).withParams()
	if err != nil {
		return "", c.config.errorf(": userinfo: %w", err)
	}
	return address, nil
}

// Userinfo asks which account an access token belongs to (OpenID Connect Core section 5.3). A signed answer is
// verified. That the profile is about the subject of the ID token is for the caller to check.
func (c *Client) Userinfo(ctx context.Context, at Endpoints, accessToken string) (map[string]any, error) {
	answer, err := askUserinfo(ctx, c.config.HTTP, c.userinfoOf(at), func(r *http.Request) error {
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

// userinfoOf is the endpoint as configured or else as discovered.
func (c *Client) userinfoOf(at Endpoints) Endpoint {
	return Endpoint{URL: or(c.config.Userinfo.URL, at.userinfo), Params: c.config.Userinfo.Params}
}

// readUserinfo reads an answer that is JSON, or verifies one that is signed.
func (c *Client) readUserinfo(ctx context.Context, at Endpoints, answer *upstream.Response) (map[string]any, error) {
	o := &c.config
	if o.UserinfoAlg == "" && !isJWT(answer.Header.Get("Content-Type")) {
		return exactjson.DecodeObject(answer.Body)
	}
	if at.metadata == nil {
		return nil, errors.New("the answer is signed, and without an issuer there are no keys to verify it with")
	}
	expect := oidc.Expect{Metadata: at.metadata, ClientID: o.ClientID, ClientSecret: o.ClientSecret}
	if o.UserinfoAlg != "" {
		expect.Algs = []string{o.UserinfoAlg}
	}
	return o.Documents.VerifyUserinfo(ctx, string(answer.Body), expect)
}

// isJWT reports whether a Content-Type is that of a signed answer; hardly any is.
func isJWT(contentType string) bool {
	if contentType == "application/json" {
		return false
	}
	media, _, _ := mime.ParseMediaType(contentType)
	return media == "application/jwt"
}

var acceptUserinfo = []string{"application/json, application/jwt"}

// askUserinfo asks a userinfo endpoint, with the proof that authorize adds.
func askUserinfo(
	ctx context.Context, client *upstream.Client, e Endpoint, authorize func(*http.Request) error,
) (*upstream.Response, error) {
	if e.URL == "" {
		return nil, errors.New("there is no userinfo endpoint")
	}
	answer, err := client.Ask(ctx, upstream.NoRedirects, func(ctx context.Context) (*http.Request, error) {
		request, err := e.request(ctx, http.MethodGet)
		if err != nil {
			return nil, err
		}
		request.Header["Accept"] = acceptUserinfo
		return request, authorize(request)
	})
	if err != nil {
		return nil, err
	}
	if answer.Status/100 != 2 {
		return nil, fmt.Errorf("status %d", answer.Status)
	}
	return answer, nil
}
