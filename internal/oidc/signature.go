package oidc

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha512" // registers SHA-384 and SHA-512 with crypto.Hash
	"math/big"
)

// The standard library verifies here, and go-jose reads the keys. To have go-jose verify as well would mean to have it
// read the header again, by encoding/json and with the keys and certificates that a token brings along; it takes any
// salt of RSASSA-PSS, knows no "Ed25519", and no HS256 under a secret of fewer than 32 bytes. FuzzToken holds the two
// against each other.

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

// hashOf returns the hash function of an algorithm (RFC 7518 section 3.1), also for at_hash. It is zero for an unknown
// algorithm.
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

// curveOf returns the curve of an algorithm (RFC 7518 section 3.4). It is nil for algorithms other than ECDSA.
func curveOf(alg string) elliptic.Curve {
	switch alg {
	case "ES256":
		return elliptic.P256()
	case "ES384":
		return elliptic.P384()
	case "ES512":
		return elliptic.P521()
	}
	return nil
}

// verifies reports whether a public key has the type that the token's algorithm needs, and whether it made the
// signature. The algorithm is from the token, and the type of the key from the issuer.
func (t *compact) verifies(key any) (fits, good bool) {
	hash := hashOf(t.alg)
	if hash == 0 {
		return false, false
	}
	switch k := key.(type) {
	case ed25519.PublicKey:
		fits = t.alg == "EdDSA" && len(k) == ed25519.PublicKeySize
		return fits, fits && ed25519.Verify(k, []byte(t.signed), t.signature)
	case *rsa.PublicKey:
		switch t.alg[:2] {
		case "RS":
			return true, rsa.VerifyPKCS1v15(k, hash, t.digest(hash), t.signature) == nil
		case "PS":
			salt := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash} // RFC 7518 section 3.5
			return true, rsa.VerifyPSS(k, hash, t.digest(hash), t.signature, salt) == nil
		}
	case *ecdsa.PublicKey:
		fits = k.Curve == curveOf(t.alg)
		return fits, fits && t.verifiesECDSA(k, hash)
	}
	return false, false
}

// verifiesECDSA reports whether the key made the signature, which is two concatenated numbers of the curve's size (RFC
// 7518 section 3.4).
func (t *compact) verifiesECDSA(key *ecdsa.PublicKey, hash crypto.Hash) bool {
	size := (key.Curve.Params().BitSize + 7) / 8
	if len(t.signature) != 2*size {
		return false
	}
	r, s := new(big.Int).SetBytes(t.signature[:size]), new(big.Int).SetBytes(t.signature[size:])
	return ecdsa.Verify(key, t.digest(hash), r, s)
}

// verifiesHMAC reports whether the signature is HS256 with this secret.
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
