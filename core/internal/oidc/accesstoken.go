package oidc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// VerifyAccessToken checks an access token that is a JSON Web Token: signed by the issuer with one of e.Algs, from the
// issuer, about the subject, not expired (RFC 9068 section 4). Its audience is the API that it is for, which is not us.
// A token that is none is opaque to us, and fine.
func (d *Discovery) VerifyAccessToken(ctx context.Context, raw string, subject any, e Expect) error {
	if strings.Count(raw, ".") != 2 {
		return nil
	}
	token, err := readTyped(raw, "at+jwt", "JWT")
	if err != nil {
		return err
	}
	if err := d.verifyCompact(ctx, &token, e, e.Algs); err != nil {
		return err
	}
	claims, err := exactjson.DecodeObjectTolerant(token.payload, Trusted)
	if err != nil {
		return fmt.Errorf("claims: %w", err)
	}
	exp, ok := seconds(claims["exp"])
	if err := e.checkIssuer(claims); err != nil {
		return err
	}
	switch {
	case claims["sub"] != subject:
		return errors.New("sub is not that of the ID token")
	case !ok || exp <= d.now().Unix()-leeway:
		return errors.New("it has expired, or exp is no number")
	}
	return nil
}
