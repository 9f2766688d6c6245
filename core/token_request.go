package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	sessiontoken "github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/jwe"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/tokensource"
)

// tokensFor returns the Auth of a request and the reader of its token. The response to the request depends on the token
// then.
func (a *Auth) tokensFor(ctx context.Context, r *Request) (*Auth, *tokensource.Sources[*Token], error) {
	a, err := a.resolve(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	scheme := ""
	if len(r.Hosts) > 0 || a.site.pinned {
		v, err := a.site.arrive(r)
		if err != nil {
			return nil, nil, err
		}
		scheme = v.at.Scheme
	}
	if v := VisitOf(ctx, a); v != nil {
		v.dependsOnSession()
	}
	return a, a.tokens.For(scheme), nil
}

// Token returns the claims of the session token in a request: of the session cookie, or else of "Authorization:
// Bearer". It returns nil without an error if the user is not signed in: the request has no token, or the token cannot
// be decrypted, has expired or was revoked. The log has the reason at level debug. An error means that the result is
// unknown; do not treat it as "not signed in". This is so if JWT.Revoked fails or if the request is for an unknown
// host.
//
// Token calls no callback except JWT.Revoked, and it renews nothing. It reads the store in two cases: in the
// background, for the revocation list of Session.Revocation, and for the user of a session that started before a plugin
// verified the user's email address.
//
// A Request with only its Header is sufficient. Then both names of the session cookie count. For a service without an
// Auth, use [sessiontoken.NewReader].
func (a *Auth) Token(ctx context.Context, r *Request) (*Token, error) {
	a, reader, err := a.tokensFor(ctx, r)
	if err != nil {
		return nil, err
	}
	token, err := reader.Read(ctx, r.Header, func(err error) bool { return errors.Is(err, ErrSessionToken) })
	switch {
	case errors.Is(err, ErrSessionToken):
		return nil, err
	case err != nil:
		a.log.debug(ctx, "a request has no valid session token", slog.String("reason", panics.Bounded(err.Error())))
		return nil, nil
	}
	if err := a.checkTokenActor(ctx, r, token); err != nil {
		if errors.Is(err, errImpersonationEnded) {
			return nil, nil
		}
		return nil, err
	}
	if a.sessions.facts {
		token = sessiontoken.ShowFacts(token)
	}
	outdated, err := a.sessions.jwt.EndedByVerification(ctx, token, func(err error) {
		a.log.failure(ctx, errormarks.As(err, ErrStore))
	})
	if err != nil || outdated {
		return nil, err
	}
	return token, nil
}

// RawToken returns the session token in a request, without checking it. It is empty if there is none. An error means
// that the name of the session cookie is unknown: the request is for an unknown host, or the function of [PerRequest]
// failed.
func (a *Auth) RawToken(ctx context.Context, r *Request) (string, error) {
	_, reader, err := a.tokensFor(ctx, r)
	if err != nil {
		return "", err
	}
	return reader.Raw(r.Header), nil
}

// EncodeToken encrypts a session token in the format of Auth.js, for tests and tools. salt is the name of the session
// cookie.
func (a *Auth) EncodeToken(t *Token, salt string, maxAge time.Duration) (string, error) {
	keys, err := a.tokenKeys("EncodeToken", salt)
	if err != nil {
		return "", err
	}
	return a.sessions.jwt.Seal(keys, t, maxAge)
}

// tokenKeys returns the keys of session tokens for a salt. method is the exported method for error texts.
func (a *Auth) tokenKeys(method, salt string) (*jwe.Keyring, error) {
	if err := configured(a, method); err != nil {
		return nil, err
	}
	keys, err := jwe.NewKeyring(a.site.secrets, salt)
	if err != nil {
		return nil, fmt.Errorf("core: token: %w", err)
	}
	return keys, nil
}

// DecodeToken decrypts a token of EncodeToken.
func (a *Auth) DecodeToken(sealed, salt string) (*Token, error) {
	keys, err := a.tokenKeys("DecodeToken", salt)
	if err != nil {
		return nil, err
	}
	return a.sessions.jwt.Open(keys, sealed)
}

// checkTokenActor is checkActor for a token that was read without a session.
func (a *Auth) checkTokenActor(ctx context.Context, r *Request, t *Token) error {
	by := sessiontoken.Actor(t)
	if by == (actor{}) {
		return nil
	}
	v, err := a.site.arrive(r)
	if err != nil { // without a host, the names of the cookies are unknown
		return errImpersonationEnded
	}
	session, err := a.sessions.of(ctx, &v)
	if err != nil {
		return err
	}
	_, err = a.sessions.checkActor(ctx, session.carrier(), by, t.Subject)
	return err
}
