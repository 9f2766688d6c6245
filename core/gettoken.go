package core

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
)

// GetToken returns the claims that a request carries, in the session cookie or else as "Authorization: Bearer" (SPEC 5.6). nil
// without an error means nobody: no token came, or one that cannot be read, has expired or was revoked. An error means that nobody
// knows, and is never to be taken for "not signed in": JWT.Revoked failed, or the request is not for a host of ours. It runs no
// callback but JWT.Revoked, renews nothing and asks no store.
func (a *Auth) GetToken(ctx context.Context, r *Request) (*Token, error) {
	x := &exchange{Auth: a, r: r}
	if err := x.open(); err != nil {
		return nil, err
	}
	token, err := x.carriedToken(ctx)
	if errors.Is(err, SessionTokenError) {
		return nil, err
	}
	return token, nil
}

// carriedToken returns the claims of the cookie, else of the header.
func (x *exchange) carriedToken(ctx context.Context) (*Token, error) {
	if x.sessionCookie().Value() != "" {
		if x.session.Strategy == StrategyJWT {
			if err := x.settleSession(ctx); err != nil {
				return nil, err
			}
		}
		return x.liveToken(ctx)
	}
	text := bearer(x.r.Header)
	if text == "" {
		return nil, nil
	}
	token, err := x.decodeSession(ctx, text)
	if err == nil {
		err = x.checkToken(ctx, token)
	}
	if err != nil {
		return nil, err
	}
	return token, nil
}

// RawToken returns the text of the token that a request carries, unchecked; "" for none.
func (a *Auth) RawToken(r *Request) string {
	x := &exchange{Auth: a, r: r}
	if err := x.open(); err != nil {
		return ""
	}
	if value := cookie.Join(x.jar, x.cookies.session.name()).Value(); value != "" {
		return value
	}
	return bearer(r.Header)
}

// bearer returns the token of an Authorization header, percent-decoded. Two headers, another scheme or broken encoding: none.
func bearer(h http.Header) string {
	values := h["Authorization"]
	if len(values) != 1 {
		return ""
	}
	value, ok := strings.CutPrefix(values[0], "Bearer ")
	if !ok {
		return ""
	}
	token, err := url.PathUnescape(value)
	if err != nil {
		return ""
	}
	return token
}
