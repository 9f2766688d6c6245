package oidc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// Expect contains the expected properties of an ID token.
type Expect struct {
	// Metadata is the metadata of the issuer.
	Metadata *Metadata
	// ClientID must be in the audience. ClientSecret is the key of HS256, if Algs contains it.
	ClientID, ClientSecret string
	// AppClientIDs, if not nil, means that an app received the token from an SDK of the provider. It replaces ClientID:
	// the audience, and azp if present, must be one of these client IDs. Nonce is required, and the claim may also be
	// the SHA-256 of Nonce in hexadecimal, because many apps pass only the hash to the SDK. at_hash is not compared,
	// because there is no access token.
	AppClientIDs []string
	// Nonce is the nonce sent. If it is empty, none was sent, and the token's nonce is not compared.
	Nonce string
	// Algs are the accepted algorithms. If it is nil, these are the asymmetric ones that the issuer advertises, or else
	// RS256.
	Algs []string
	// AccessToken is compared with at_hash if the token has that claim.
	AccessToken string
	// MaxAge is the max_age that was sent: auth_time is then required and must not be older. Zero means that none was
	// sent.
	MaxAge time.Duration
	// Earlier are the claims of the sign-in's ID token if this token is from a refresh (OpenID Connect Core section
	// 12.2); otherwise nil. The subject and, if present, the issuer must be the same; a nonce may be missing.
	Earlier map[string]any
}

// VerifyIDToken verifies an ID token (OpenID Connect Core section 3.1.3.7) and returns its claims. Names are exact, and
// numbers are of type [json.Number]. Clocks may differ by 30 seconds. If it returns an error, there are no claims.
// Errors contain nothing of the token except its issuer and algorithm, quoted and truncated.
func (d *Discovery) VerifyIDToken(ctx context.Context, raw string, e Expect) (map[string]any, error) {
	claims, alg, err := d.verify(ctx, raw, e, e.algs())
	if err != nil {
		return nil, err
	}
	if err := e.check(claims, alg, d.now()); err != nil {
		return nil, err
	}
	return claims, nil
}

// verify verifies the signature of a token with one of the algorithms, and returns its claims and algorithm.
func (d *Discovery) verify(ctx context.Context, raw string, e Expect, algs []string) (map[string]any, string, error) {
	token, err := readCompact(raw)
	if err != nil {
		return nil, "", err
	}
	if err := d.verifyCompact(ctx, &token, e, algs); err != nil {
		return nil, "", err
	}
	claims, err := exactjson.DecodeObjectTolerant(token.payload, Trusted)
	if err != nil {
		return nil, "", fmt.Errorf("claims: %w", err)
	}
	return claims, token.alg, nil
}

// Claims returns the claims of an ID token that was verified earlier.
func Claims(raw string) (map[string]any, error) {
	token, err := readCompact(raw)
	if err != nil {
		return nil, err
	}
	claims, err := exactjson.DecodeObjectTolerant(token.payload, Trusted)
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	return claims, nil
}

// verifyCompact verifies the algorithm and signature of a parsed token.
func (d *Discovery) verifyCompact(ctx context.Context, token *compact, e Expect, algs []string) error {
	if !slices.ContainsFunc(algs, func(alg string) bool { return byOneName(alg) == token.alg }) {
		return fmt.Errorf("signed with %.20q, which is not among the algorithms accepted", token.alg)
	}
	if token.alg == "HS256" {
		return e.verifyHMAC(token)
	}
	return d.verifySignature(ctx, token, e.Metadata)
}

// algs returns the accepted algorithms. They depend on configuration and metadata, never on the token.
func (e *Expect) algs() []string {
	if e.Algs != nil {
		return e.Algs
	}
	var accepted []string
	for _, alg := range e.Metadata.IDTokenSigningAlgs {
		if slices.Contains(asymmetric, byOneName(alg)) {
			accepted = append(accepted, alg)
		}
	}
	if len(accepted) == 0 {
		return []string{"RS256"}
	}
	return accepted
}

// ErrNoKeys is returned if a token cannot be verified because the keys of its issuer cannot be fetched at present.
var ErrNoKeys = errors.New("keys of the issuer")

// verifySignature verifies a signature with the issuer's published keys. If no key fits, the keys are fetched again, at
// a limited rate: the issuer may have changed them, and not every issuer gives a new key a new ID.
func (d *Discovery) verifySignature(ctx context.Context, token *compact, m *Metadata) error {
	address, keySets := m.JWKSURI, d.keySets
	if address == "" {
		return errors.New("the issuer publishes no keys")
	}
	if m.tenant {
		keySets = d.tenantKeys
	}
	if err := token.parseJWS(); err != nil {
		return err
	}
	known, err := keySets.get(ctx, address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoKeys, err)
	}
	if known.value.verifies(token) {
		return nil
	}
	if m.sparing != "" && !d.untrusted.spend(m.sparing, d.now()) {
		return errors.New("the signature fits no key of the issuer that is at hand, " +
			"and too many tokens came within a minute to ask for others")
	}
	renewed, err := keySets.renew(ctx, address, known.version)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoKeys, err)
	}
	if renewed.version != known.version && renewed.value.verifies(token) {
		return nil
	}
	return fmt.Errorf("the signature fits no key of the issuer%v", renewed.value.omitted)
}

// verifyHMAC verifies an HS256 signature with the client secret, for the few providers that use it and are configured
// for it.
func (e *Expect) verifyHMAC(token *compact) error {
	switch {
	case e.ClientSecret == "":
		return errors.New("HS256 needs a client secret")
	case !token.verifiesHMAC(e.ClientSecret):
		return errors.New("the signature does not fit the client secret")
	}
	return nil
}

// VerifyAccessToken verifies an access token that is a JSON Web Token. The issuer must have signed it with one of
// e.Algs, and it must have the same subject and not be expired (RFC 9068 section 4). Its audience is not checked,
// because that is an API and not this client. A token that is not a JWT is opaque and accepted.
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
		return errors.New("it has expired, or exp is not a number")
	}
	return nil
}

// VerifyUserinfo verifies a signed userinfo response (OpenID Connect Core section 5.3.2) and returns its claims. The
// algorithms are Algs, or all asymmetric ones, because the algorithms that an issuer advertises for ID tokens do not
// apply to userinfo. Issuer, audience and expiry must be valid if they are present. The caller must compare the subject
// with that of the ID token.
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
			return nil, errors.New("it has expired, or exp is not a number")
		}
	}
	return claims, nil
}
