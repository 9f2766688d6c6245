package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

const (
	// leeway is how far a provider's clock may be off.
	leeway     = 30 * time.Second
	maxIDToken = 256 << 10
	maxHeader  = 4 << 10
)

// asymmetric are the algorithms that are accepted when a provider advertises them. "none" and HMAC never come from metadata.
var asymmetric = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// Expect is what an ID token is held against.
type Expect struct {
	// Metadata is the issuer's.
	Metadata *Metadata
	// ClientID must be the audience; ClientSecret is the key of HS256, where Algs lists it.
	ClientID, ClientSecret string
	// Nonce is the one sent, empty when none was.
	Nonce string
	// Algs are the algorithms accepted; nil: those that the issuer advertises, else RS256.
	Algs []string
	// AccessToken is compared with at_hash, when that is there.
	AccessToken string
}

// VerifyIDToken checks an ID token (OpenID Connect Core section 3.1.3.7) and returns its claims: names exact, numbers as
// [json.Number]. Errors say what is wrong and hold nothing of the token.
func (d *Discovery) VerifyIDToken(ctx context.Context, raw string, e Expect) (map[string]any, error) {
	head, err := readHeader(raw)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(e.algs(), head.alg) {
		return nil, fmt.Errorf("signed with %.20q, which is not among the algorithms accepted", head.alg)
	}
	var payload []byte
	if head.alg == "HS256" {
		payload, err = verifyHMAC(raw, e.ClientSecret)
	} else {
		payload, err = d.verifySignature(ctx, raw, head, e.Metadata.JWKSURI)
	}
	if err != nil {
		return nil, err
	}
	claims, err := exactjson.DecodeObject(payload)
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	return claims, e.check(claims, head.alg, d.now())
}

// algs is the list of algorithms, fixed by configuration and metadata and never by the token.
func (e *Expect) algs() []string {
	if e.Algs != nil {
		return e.Algs
	}
	var accepted []string
	for _, alg := range e.Metadata.IDTokenSigningAlgs {
		if slices.Contains(asymmetric, alg) {
			accepted = append(accepted, alg)
		}
	}
	if len(accepted) == 0 {
		return []string{"RS256"}
	}
	return accepted
}

// header is what is read of a token's header. Keys that it carries or points to are never looked at.
type header struct{ alg, kid string }

// readHeader reads the header of a compact JWS strictly: three parts in canonical base64url, exact names, nothing critical.
func readHeader(raw string) (header, error) {
	var h header
	parts := strings.Split(raw, ".")
	if len(raw) > maxIDToken || len(parts) != 3 || len(parts[0]) > maxHeader {
		return h, errors.New("it is no signed token in compact form")
	}
	for _, part := range parts {
		if part == "" || strings.ContainsAny(part, "\r\n") {
			return h, errors.New("it is no signed token in compact form")
		}
		if _, err := base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return h, errors.New("a part is not in base64url")
		}
	}
	decoded, _ := base64.RawURLEncoding.DecodeString(parts[0])
	err := exactjson.Object(decoded, func(name string, value []byte) error {
		text, isText := exactjson.Text(value)
		switch name {
		case "alg":
			h.alg = text
		case "kid":
			if !isText {
				return errors.New("kid is no text")
			}
			h.kid = text
		case "crit", "b64", "zip":
			return fmt.Errorf("the header asks for %s", name)
		case "typ":
			if !strings.EqualFold(text, "JWT") {
				return errors.New("typ is not JWT: it is a token for something else")
			}
		}
		return nil
	})
	if err != nil {
		return h, fmt.Errorf("header: %w", err)
	}
	if len(h.alg) < 5 {
		return h, errors.New("header: no algorithm")
	}
	return h, nil
}

// verifySignature verifies with the issuer's published keys. A key id that is not among them refetches the set, now and then.
func (d *Discovery) verifySignature(ctx context.Context, raw string, head header, address string) ([]byte, error) {
	if address == "" {
		return nil, errors.New("the issuer publishes no keys")
	}
	token, err := jose.ParseSignedCompact(raw, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(head.alg)})
	if err != nil {
		return nil, errors.New("it is no signed token in compact form")
	}
	set, err := d.keySets.get(ctx, address, documentTTL)
	if err != nil {
		return nil, fmt.Errorf("keys of the issuer: %w", err)
	}
	keys := set.candidates(head.kid, head.alg)
	if len(keys) == 0 {
		if set, err = d.keySets.get(ctx, address, refetchAfter); err != nil {
			return nil, fmt.Errorf("keys of the issuer: %w", err)
		}
		keys = set.candidates(head.kid, head.alg)
	}
	for _, key := range keys[:min(len(keys), 10)] {
		if payload, err := token.Verify(key.Key); err == nil {
			return payload, nil
		}
	}
	return nil, errors.New("the signature fits no key of the issuer")
}

// verifyHMAC verifies HS256 under the client secret, for the few providers that sign so and are configured for it.
func verifyHMAC(raw, secret string) ([]byte, error) {
	if secret == "" {
		return nil, errors.New("HS256 needs a client secret")
	}
	signed, signature := raw[:strings.LastIndexByte(raw, '.')], raw[strings.LastIndexByte(raw, '.')+1:]
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed))
	got, _ := base64.RawURLEncoding.DecodeString(signature)
	if !hmac.Equal(got, mac.Sum(nil)) {
		return nil, errors.New("the signature does not fit the client secret")
	}
	_, payload, _ := strings.Cut(signed, ".")
	return base64.RawURLEncoding.DecodeString(payload)
}

// check holds the claims against what is expected.
func (e *Expect) check(claims map[string]any, alg string, now time.Time) error {
	if claims["iss"] != e.Metadata.Issuer {
		return errors.New("iss is not the issuer")
	}
	if err := e.checkAudience(claims); err != nil {
		return err
	}
	if sub, ok := claims["sub"].(string); !ok || sub == "" || len(sub) > 255 {
		return errors.New("sub is no text of 1 to 255 characters")
	}
	exp, ok := seconds(claims["exp"])
	if !ok || !time.Unix(exp, 0).After(now.Add(-leeway)) {
		return errors.New("it has expired, or exp is no number")
	}
	iat, ok := seconds(claims["iat"])
	if !ok || time.Unix(iat, 0).After(now.Add(leeway)) {
		return errors.New("iat is in the future, or no number")
	}
	if v, there := claims["nbf"]; there {
		if nbf, ok := seconds(v); !ok || time.Unix(nbf, 0).After(now.Add(leeway)) {
			return errors.New("it is not valid yet, or nbf is no number")
		}
	}
	nonce, _ := claims["nonce"].(string)
	if subtle.ConstantTimeCompare([]byte(nonce), []byte(e.Nonce)) != 1 && (e.Nonce != "" || claims["nonce"] != nil) {
		return errors.New("nonce is not the one sent")
	}
	return e.checkAccessToken(claims, alg)
}

func (e *Expect) checkAudience(claims map[string]any) error {
	several := false
	switch aud := claims["aud"].(type) {
	case string:
		if aud != e.ClientID {
			return errors.New("aud is not this client")
		}
	case []any:
		several = len(aud) > 1
		if !slices.Contains(aud, any(e.ClientID)) {
			return errors.New("aud has not this client")
		}
	default:
		return errors.New("aud is missing")
	}
	azp, there := claims["azp"]
	if several && !there || there && azp != any(e.ClientID) {
		return errors.New("azp is not this client (OpenID Connect Core section 3.1.3.7)")
	}
	return nil
}

// checkAccessToken compares at_hash with the access token (OpenID Connect Core section 3.1.3.6).
func (e *Expect) checkAccessToken(claims map[string]any, alg string) error {
	want, there := claims["at_hash"]
	if !there {
		return nil
	}
	var h hash.Hash
	switch alg[2:] {
	case "384":
		h = sha512.New384()
	case "512", "DSA": // EdDSA on Ed25519 hashes with SHA-512
		h = sha512.New()
	default:
		h = sha256.New()
	}
	h.Write([]byte(e.AccessToken))
	sum := h.Sum(nil)
	if want != base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2]) {
		return errors.New("at_hash is not that of the access token")
	}
	return nil
}

// seconds reads a NumericDate.
func seconds(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	return exactjson.Floor([]byte(n))
}
