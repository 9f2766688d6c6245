package core

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"math/big"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// signatureAlgorithm is the algorithm that a key signs client assertions with (RFC 7518 section 3.1).
func signatureAlgorithm(key crypto.Signer) (jose.SignatureAlgorithm, error) {
	switch k := key.Public().(type) {
	case *rsa.PublicKey:
		return jose.RS256, nil
	case ed25519.PublicKey:
		return jose.EdDSA, nil
	case *ecdsa.PublicKey:
		switch k.Curve {
		case elliptic.P256():
			return jose.ES256, nil
		case elliptic.P384():
			return jose.ES384, nil
		case elliptic.P521():
			return jose.ES512, nil
		}
	}
	return "", errors.New("ClientKey is of a kind that signs no assertions: use RSA, ECDSA on P-256, P-384 or P-521, or Ed25519")
}

// decimal returns a JSON number as decimal text without exponent or needless fraction: account ids are compared as text, and
// a float on the way would make two large ids one.
func decimal(n json.Number) string {
	s := n.String()
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(s)-i > 4 { // 1e9999 would fill memory
		return s
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return s
	}
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(20), "0")
}
