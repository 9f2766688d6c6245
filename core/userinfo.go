package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/oidc"
)

// optionalUserinfo is the timeout of a userinfo request whose failure does not fail the sign-in.
const optionalUserinfo = 3 * time.Second

// completedClaims returns the claims of the ID token. If name and email were requested but the ID token has neither, it
// adds the claims of the userinfo endpoint: OpenID Connect Core section 5.4 lets a provider return the claims of scopes
// only there, and several do. The sign-in does not depend on the response.
func (f *oauthFlow) completedClaims(ctx context.Context, c *call, at oauth.Endpoints, tokens *TokenSet) Profile {
	claims := tokens.Claims
	if claims.First("name", "email") != "" || !f.client.HasUserinfo(at) || !f.requestedProfile(tokens) {
		return claims
	}
	ctx, cancel := context.WithTimeout(ctx, optionalUserinfo)
	defer cancel()
	userinfo, err := f.userinfo(ctx, at, tokens)
	if err != nil {
		c.log.logger.LogAttrs(ctx, slog.LevelWarn, "auth: the ID token has no name and no email, and userinfo failed",
			append(c.attrs(), slog.String("provider", f.ID), slog.Any("error", err))...)
		return claims
	}
	return oidc.WithUserinfo(claims, userinfo)
}

// requestedProfile reports whether the scope profile or email was requested and granted.
func (o *oauthClient) requestedProfile(tokens *TokenSet) bool {
	scope := or(tokens.Scope, or(o.sentParam("scope"), o.scope))
	for name := range strings.FieldsFuncSeq(scope, func(r rune) bool { return r == ' ' || r == ',' || r == '+' }) {
		if name == "profile" || name == "email" {
			return true
		}
	}
	return false
}

// Get sends a GET request with the access token as bearer token and parses the response. headers are pairs of name and
// value.
func (r *UserinfoRequest) Get(ctx context.Context, url string, headers ...string) (Profile, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+string(r.Tokens.AccessToken))
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return r.Do(request)
}

// Do sends a request and parses the response, which must be a JSON object with status 2xx.
func (r *UserinfoRequest) Do(request *http.Request) (Profile, error) {
	body, err := r.Tokens.Send(request)
	if err != nil {
		return nil, err
	}
	return decodeProfile(body)
}

// Send sends a request to the provider and returns the body of the response. The status must be 200 to 299. Errors
// contain the host, but no tokens and no other part of the URL.
func (t *TokenSet) Send(request *http.Request) ([]byte, error) {
	if request.Header.Get("Accept") == "" {
		request.Header.Set("Accept", "application/json")
	}
	response, err := t.Client.Do(request)
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the URL, which contains the token for some providers
	}
	if err != nil {
		return nil, t.hide(fmt.Errorf("%s: %w", request.URL.Host, err))
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s answered status %d", request.URL.Host, response.StatusCode)
	}
	return io.ReadAll(response.Body) // the client limits the size
}

// hide returns err with these tokens removed from its text.
func (t *TokenSet) hide(err error) error {
	return hide(err, t.Extra.Text("oauth_token"), t.Extra.Text("oauth_token_secret"),
		string(t.AccessToken), string(t.RefreshToken), string(t.IDToken))
}
