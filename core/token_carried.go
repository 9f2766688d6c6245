package core

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// Token returns the claims that a request carries, in the session cookie or else as "Authorization: Bearer". nil
// without an error means that nobody is signed in: no token came, or one that cannot be read, has expired or was
// revoked. An error means that this could not be found out, and is never to be taken for "not signed in": JWT.Revoked
// failed, or the request is not for a host of ours. It runs no callback but JWT.Revoked, renews nothing and asks no
// store.
func (a *Auth) Token(ctx context.Context, r *Request) (*Token, error) {
	a, err := a.resolve(ctx, r)
	if err != nil {
		return nil, err
	}
	v, err := a.site.arrive(r)
	if err != nil {
		return nil, err
	}
	token, err := a.carriedToken(ctx, &v)
	if errors.Is(err, ErrSessionToken) {
		return nil, err
	}
	return token, nil
}

// carriedToken returns the claims of the cookie, else of the header.
func (a *Auth) carriedToken(ctx context.Context, v *arrival) (*Token, error) {
	p := a.sessions.present(v)
	if p.value() != "" {
		if a.sessions.config.Strategy == StrategyJWT {
			if err := p.settle(ctx); err != nil {
				return nil, err
			}
		}
		return p.live(ctx)
	}
	text := bearer(v.r.Header)
	if text == "" {
		return nil, nil
	}
	token, err := a.sessions.jwt.decode(ctx, v.cookies, text)
	if err == nil {
		err = a.sessions.jwt.check(ctx, token)
	}
	if err != nil {
		return nil, err
	}
	return token, nil
}

// RawToken returns the text of the token that a request carries, unchecked: "" for none. An error means that it is not
// known which cookie would carry it: the request is not for a host of ours, or the function of [PerRequest] failed.
func (a *Auth) RawToken(ctx context.Context, r *Request) (string, error) {
	a, err := a.resolve(ctx, r)
	if err != nil {
		return "", err
	}
	v, err := a.site.arrive(r)
	if err != nil {
		return "", err
	}
	p := a.sessions.present(&v)
	return or(p.value(), bearer(r.Header)), nil
}

// SealToken makes a session token as Auth.js does, for tests and tools: salt is the session cookie's name.
func (a *Auth) SealToken(t *Token, salt string, maxAge time.Duration) (string, error) {
	if err := a.configured("SealToken"); err != nil {
		return "", err
	}
	keys, err := jwe.NewKeyring(a.site.secrets, salt)
	if err != nil {
		return "", fmt.Errorf("core: token: %w", err)
	}
	return a.sessions.jwt.seal(keys, t, maxAge)
}

// OpenToken reads what SealToken makes.
func (a *Auth) OpenToken(sealed, salt string) (*Token, error) {
	if err := a.configured("OpenToken"); err != nil {
		return nil, err
	}
	keys, err := jwe.NewKeyring(a.site.secrets, salt)
	if err != nil {
		return nil, fmt.Errorf("core: token: %w", err)
	}
	return a.sessions.jwt.open(keys, sealed)
}

// bearer returns the token of an Authorization header, percent-decoded. Two headers, another scheme or broken encoding:
// none.
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
