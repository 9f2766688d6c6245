package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/oauth"
)

// optionalUserinfo is how long a sign-in waits for a userinfo response that it can do without.
const optionalUserinfo = 3 * time.Second

// completedClaims returns the claims of the ID token, and those of the userinfo endpoint where the ID token has neither
// a name nor an email although they were requested: OpenID Connect Core section 5.4 lets a provider return the claims
// of scopes there alone, and several do. The sign-in does not depend on the response.
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
	return withUserinfo(claims, userinfo)
}

// requestedProfile reports whether the access token was requested for the scope profile or email, and not granted for
// less.
func (o *oauthClient) requestedProfile(tokens *TokenSet) bool {
	scope := or(tokens.Scope, or(o.sentParam("scope"), o.requestedScope()))
	for name := range strings.FieldsFuncSeq(scope, func(r rune) bool { return r == ' ' || r == ',' || r == '+' }) {
		if name == "profile" || name == "email" {
			return true
		}
	}
	return false
}

// withUserinfo returns the claims of an ID token with those that only the userinfo response has. The ID token goes
// first: it is signed. Claims about the token itself are taken from the ID token only. The claims that vouch for an
// email are taken only from the source of that email.
func withUserinfo(claims, userinfo Profile) Profile {
	all := maps.Clone(claims)
	for name, value := range userinfo {
		if all[name] == nil && !aboutToken(name) {
			all[name] = value
		}
	}
	if claims["email"] == nil && userinfo["email"] != nil {
		for _, name := range []string{"email_verified", "xms_edov"} {
			if delete(all, name); userinfo[name] != nil {
				all[name] = userinfo[name]
			}
		}
	}
	return all
}

// aboutToken reports whether a claim describes an ID token and its authentication, not the user.
func aboutToken(name string) bool {
	switch name {
	case "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "azp", "nonce", "auth_time", "acr", "amr", "sid", "at_hash",
		"c_hash", "events":
		return true
	}
	return false
}

// Get asks url with the access token as bearer and reads the answer. Headers come in pairs of name and value.
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

// Do sends a request and reads the answer: an object, with a status of success.
func (r *UserinfoRequest) Do(request *http.Request) (Profile, error) {
	body, err := r.Tokens.Send(request)
	if err != nil {
		return nil, err
	}
	return decodeProfile(body)
}

// Send sends a request to the provider and returns the body of an answer with a status of success, 200 to 299. Errors
// name the host, and hold neither tokens nor the rest of the address.
func (t *TokenSet) Send(request *http.Request) ([]byte, error) {
	if request.Header.Get("Accept") == "" {
		request.Header.Set("Accept", "application/json")
	}
	response, err := t.Client.Do(request)
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the address, in which some providers want the token
	}
	if err != nil {
		return nil, t.hide(fmt.Errorf("%s: %w", request.URL.Host, err))
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s answered status %d", request.URL.Host, response.StatusCode)
	}
	return io.ReadAll(response.Body) // the client has bounded it
}

// hide returns err with a text without these tokens.
func (t *TokenSet) hide(err error) error {
	return hide(err, t.Extra.Text("oauth_token"), t.Extra.Text("oauth_token_secret"),
		string(t.AccessToken), string(t.RefreshToken), string(t.IDToken))
}
