package oidc

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha512" // SHA-384 and SHA-512 for crypto.Hash
	"math/big"
)

// asymmetric are the algorithms that are accepted when a provider advertises them. "none" and HMAC never come from metadata.
var asymmetric = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// byOneName returns the name that is used here for an algorithm: RFC 9864 section 2.2 gives "EdDSA" with Ed25519 keys, the only ones
// there are here, the name "Ed25519". Either is accepted where the other is listed.
func byOneName(alg string) string {
	if alg == "Ed25519" {
		return "EdDSA"
	}
	return alg
}

// hashOf returns the hash function of an algorithm (RFC 7518 section 3.1), also for at_hash; zero for an unknown one.
func hashOf(alg string) crypto.Hash {
	switch alg {
	case "HS256", "RS256", "PS256", "ES256":
		return crypto.SHA256
	case "RS384", "PS384", "ES384":
		return crypto.SHA384
	case "RS512", "PS512", "ES512", "EdDSA": // Ed25519 hashes with SHA-512 (RFC 8032 section 5.1)
		return crypto.SHA512
	}
	return 0
}

// curveOf returns the curve of an algorithm, and the size of each half of its signature (RFC 7518 section 3.4).
func curveOf(alg string) (elliptic.Curve, int) {
	switch alg {
	case "ES256":
		return elliptic.P256(), 32
	case "ES384":
		return elliptic.P384(), 48
	case "ES512":
		return elliptic.P521(), 66
	}
	return nil, 0
}

// verifies tells whether a public key made the signature. A key of another kind than the algorithm's did not: the algorithm
// comes from the token, the kind of the key from the issuer.
func (t *compact) verifies(key any) bool {
	hash := hashOf(t.alg)
	if hash == 0 {
		return false
	}
	switch k := key.(type) {
	case ed25519.PublicKey:
		return t.alg == "EdDSA" && len(k) == ed25519.PublicKeySize && ed25519.Verify(k, []byte(t.signed), t.signature)
	case *rsa.PublicKey:
		switch t.alg[:2] {
		case "RS":
			return rsa.VerifyPKCS1v15(k, hash, t.digest(hash), t.signature) == nil
		case "PS":
			return rsa.VerifyPSS(k, hash, t.digest(hash), t.signature, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil
		}
	case *ecdsa.PublicKey:
		curve, size := curveOf(t.alg)
		if curve == nil || k.Curve != curve || len(t.signature) != 2*size {
			return false
		}
		r, s := new(big.Int).SetBytes(t.signature[:size]), new(big.Int).SetBytes(t.signature[size:])
		return ecdsa.Verify(k, t.digest(hash), r, s)
	}
	return false
}

// verifiesHMAC tells whether the signature is HS256 under a secret.
func (t *compact) verifiesHMAC(secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t.signed))
	return t.alg == "HS256" && hmac.Equal(t.signature, mac.Sum(nil))
}

func (t *compact) digest(hash crypto.Hash) []byte {
	h := hash.New()
	h.Write([]byte(t.signed))
	return h.Sum(nil)
}
