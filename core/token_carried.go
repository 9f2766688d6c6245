package core

import (
	"context"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// Token returns the claims that a request carries, in the session cookie or else as "Authorization: Bearer". nil
// without an error means that nobody is signed in: no token came, or one that cannot be read, has expired or was
// revoked; the log says at level debug which. An error means that this could not be found out, and is never to be taken
// for "not signed in": JWT.Revoked failed, or the request is not for a host of ours. It runs no callback but
// JWT.Revoked and renews nothing. It queries the store only for sessions that Session.Revocation has ended, outside of
// the request, and for the user of a session that began before a plugin verified the user's address.
//
// A Request with nothing but its Header will do, where the application has no more: both names of the session cookie
// count then. [NewTokenReader] is for services that have the secret and no Auth.
func (a *Auth) Token(ctx context.Context, r *Request) (*Token, error) {
	a, err := a.resolve(ctx, r)
	if err != nil {
		return nil, err
	}
	reader, err := a.tokens.of(a.site, r)
	if err != nil {
		return nil, err
	}
	if v := VisitOf(ctx, a); v != nil {
		v.dependsOnSession()
	}
	token, err := reader.Token(ctx, r.Header)
	if err != nil || token == nil || !a.sessions.jwt.endsWithProof(token) {
		return token, err
	}
	outdated, err := a.sessions.jwt.outdated(ctx, token)
	switch {
	case err != nil && a.sessions.ended != nil && a.sessions.ended.strict:
		return nil, errorf(ErrSessionToken, "look up whether the address of the user was verified: %w", err)
	case err != nil:
		a.log.failure(ctx, errorf(ErrStore, "look up whether the address of the user was verified: %w", err))
	case outdated:
		return nil, nil
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
	reader, err := a.tokens.of(a.site, r)
	if err != nil {
		return "", err
	}
	if v := VisitOf(ctx, a); v != nil {
		v.dependsOnSession()
	}
	return reader.RawToken(r.Header), nil
}

// SealToken makes a session token as Auth.js does, for tests and tools: salt is the session cookie's name.
func (a *Auth) SealToken(t *Token, salt string, maxAge time.Duration) (string, error) {
	if err := configured(a, "SealToken"); err != nil {
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
	if err := configured(a, "OpenToken"); err != nil {
		return nil, err
	}
	keys, err := jwe.NewKeyring(a.site.secrets, salt)
	if err != nil {
		return nil, fmt.Errorf("core: token: %w", err)
	}
	return a.sessions.jwt.open(keys, sealed)
}
