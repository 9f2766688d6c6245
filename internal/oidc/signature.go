package oidc

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// asymmetric are the algorithms that are accepted if a provider advertises them. "none" and HMAC are never accepted
// because of metadata.
var asymmetric = []string{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
}

// byOneName returns the name used here for an algorithm. With Ed25519 keys, the only such keys here, "EdDSA" and
// "Ed25519" are the same algorithm (RFC 9864 section 2.2). Either name is accepted if the other is listed.
func byOneName(alg string) string {
	if alg == "Ed25519" {
		return "EdDSA"
	}
	return alg
}

// parseJWS makes go-jose parse the token, which [readTyped] has already read more strictly. The only accepted algorithm
// is the one that was read. go-jose rejects headers with malformed keys or certificates, which are not used here.
func (t *compact) parseJWS() error {
	if t.headerAlg == "Ed25519" { // go-jose does not know this name
		return nil
	}
	var err error
	if t.jws, err = jose.ParseSignedCompact(t.raw, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(t.alg)}); err != nil {
		return errors.New("header: it has a member that is malformed") // the text of err may contain parts of the token
	}
	return nil
}

// verifies reports whether a public key made the signature. The caller must call parseJWS and [fits] before.
func (t *compact) verifies(key any) bool {
	if public, ok := key.(ed25519.PublicKey); ok && t.jws == nil {
		return ed25519.Verify(public, []byte(t.signed), t.signature)
	}
	_, err := t.jws.Verify(key)
	return err == nil
}

// fits reports whether a public key has the type that an algorithm needs (RFC 7518 section 3.1). The algorithm is from
// the token, and the type of the key from the issuer.
func fits(alg string, key any) bool {
	switch k := key.(type) {
	case ed25519.PublicKey:
		return alg == "EdDSA" && len(k) == ed25519.PublicKeySize
	case *rsa.PublicKey:
		return strings.HasPrefix(alg, "RS") || strings.HasPrefix(alg, "PS")
	case *ecdsa.PublicKey:
		return strings.HasPrefix(alg, "ES")
	}
	return false
}

// verifiesHMAC reports whether the signature is HS256 with this secret. go-jose rejects secrets of fewer than 32 bytes,
// but the length of a client secret is the provider's choice.
func (t *compact) verifiesHMAC(secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t.signed))
	return t.alg == "HS256" && hmac.Equal(t.signature, mac.Sum(nil))
}
