package oidc

import (
	"context"
	"errors"
	"strings"
)

// VerifyUserinfo checks a signed userinfo answer (OpenID Connect Core section 5.3.2) and returns its claims. The
// algorithms are Algs, or all asymmetric ones: what an issuer advertises for ID tokens says nothing about userinfo.
// Issuer and audience must be right where they are told; expiry too. That the subject is that of the ID token is for
// the caller to check.
func (d *Discovery) VerifyUserinfo(ctx context.Context, raw string, e Expect) (map[string]any, error) {
	if strings.Count(raw, ".") == 4 {
		return nil, errors.New("it is encrypted: have the provider send it signed, or as JSON")
	}
	algs := e.Algs
	if algs == nil {
		algs = asymmetric
	}
	claims, _, err := d.verify(ctx, raw, e, algs)
	if err != nil {
		return nil, err
	}
	if claims["iss"] != nil {
		if err := e.checkIssuer(claims); err != nil {
			return nil, err
		}
	}
	if claims["aud"] != nil {
		if err := e.checkAudience(claims); err != nil {
			return nil, err
		}
	}
	if v := claims["exp"]; v != nil {
		if exp, ok := seconds(v); !ok || exp <= d.now().Unix()-leeway {
			return nil, errors.New("it has expired, or exp is no number")
		}
	}
	return claims, nil
}
