package core

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
)

// GetToken returns the claims that a request carries, in the session cookie or else as "Authorization: Bearer", nil for none
// (SPEC 5.6). What cannot be read, or is revoked, is none: it runs no callback but JWT.Revoked, renews nothing and asks no store.
func (a *Auth) GetToken(ctx context.Context, r *Request) *Token {
	x := &exchange{Auth: a, r: r}
	if err := x.open(); err != nil {
		return nil
	}
	if x.sessionCookie().Value() != "" {
		if x.session.Strategy == StrategyJWT {
			if err := x.settleSession(ctx); err != nil {
				return nil
			}
		}
		token, err := x.liveToken(ctx)
		if err != nil {
			return nil
		}
		return token
	}
	token, err := x.decodeSession(ctx, bearer(r.Header))
	if err == nil {
		err = x.checkToken(ctx, token)
	}
	if err != nil {
		return nil
	}
	return token
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
