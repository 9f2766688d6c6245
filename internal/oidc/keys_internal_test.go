package oidc

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

func TestSizesOfRSAKeys(t *testing.T) {
	t.Parallel()
	burden := int64(1) << 31 // too large for an int of 32 bits
	for _, row := range []struct {
		name string
		bits uint
		e    int
		ok   bool
	}{
		{"smallest", 2048, 65537, true},
		{"largest", 8192, 3, true},
		{"crypto/rsa would take it", 1024, 65537, false},
		{"a bit too small", 2047, 65537, false},
		{"a bit too large", 8193, 65537, false},
		{"huge", 1 << 20, 65537, false},
		{"exponent that signs nothing", 2048, 1, false},
		{"exponent that is a burden", 2048, int(burden), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := new(big.Int).Lsh(big.NewInt(1), row.bits-1)
			n.SetBit(n, 0, 1)
			if got := usable(&jose.JSONWebKey{Key: &rsa.PublicKey{N: n, E: row.e}}); got != row.ok {
				t.Errorf("usable: %v", got)
			}
		})
	}
}

// TestKeysOfAnotherType: keys of another type than the token's algorithm do not count as tries.
func TestKeysOfAnotherType(t *testing.T) {
	t.Parallel()
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	edPublic, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var set keySet
	for range 2 * maxTries {
		set.keys = append(set.keys, jose.JSONWebKey{Key: &ecKey.PublicKey}, jose.JSONWebKey{Key: edPublic[:31]})
	}
	set.keys = append(set.keys, jose.JSONWebKey{Key: edPublic})
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"EdDSA"}`)) + ".e30"
	token, err := readCompact(signed + "." + encode(ed25519.Sign(edKey, []byte(signed))))
	if err != nil || token.parseJWS() != nil || !set.verifies(&token) {
		t.Errorf("the token is not verified: %v", err)
	}
}

// TestKindsOfSignatures signs as an attacker with the right key could: only the signature format of the algorithm in
// RFC 7518 is valid, and only for keys of its type.
func TestKindsOfSignatures(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	edPublic, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := func(signature []byte, err error) []byte {
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
	digest := func(signed string) []byte {
		sum := sha256.Sum256([]byte(signed))
		return sum[:]
	}
	pss := func(salt int) func(string) []byte {
		return func(signed string) []byte {
			options := &rsa.PSSOptions{SaltLength: salt}
			return made(rsa.SignPSS(rand.Reader, rsaKey, crypto.SHA256, digest(signed), options))
		}
	}
	pkcs1 := func(signed string) []byte {
		return made(rsa.SignPKCS1v15(rand.Reader, rsaKey, crypto.SHA256, digest(signed)))
	}
	halves := func(size int) func(string) []byte {
		return func(signed string) []byte {
			r, s, err := ecdsa.Sign(rand.Reader, ecKey, digest(signed))
			return made(append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...), err)
		}
	}
	asn1 := func(signed string) []byte { return made(ecdsa.SignASN1(rand.Reader, ecKey, digest(signed))) }
	edSignature := func(signed string) []byte { return ed25519.Sign(edKey, []byte(signed)) }
	zeros := func(string) []byte { return make([]byte, 64) }
	for _, row := range []struct {
		name, alg  string
		key        any
		sign       func(signed string) []byte
		fits, good bool
	}{
		{"PSS, salt of the hash", "PS256", &rsaKey.PublicKey, pss(32), true, true},
		{"PKCS #1", "RS256", &rsaKey.PublicKey, pkcs1, true, true},
		{"ECDSA", "ES256", &ecKey.PublicKey, halves(32), true, true},
		{"Ed25519", "EdDSA", edPublic, edSignature, true, true},
		{"Ed25519 by its other name", "Ed25519", edPublic, edSignature, true, true},
		// RFC 7518 section 3.5 requires the length of the hash. See docs/decisions.md.
		{"PSS, no salt", "PS256", &rsaKey.PublicKey, pss(0), true, true},
		{"PSS, longer salt", "PS256", &rsaKey.PublicKey, pss(64), true, true},

		{"PKCS #1 for PSS", "PS256", &rsaKey.PublicKey, pkcs1, true, false},
		{"PSS for PKCS #1", "RS256", &rsaKey.PublicKey, pss(32), true, false},
		{"another hash", "RS512", &rsaKey.PublicKey, pkcs1, true, false},
		{"ECDSA in ASN.1", "ES256", &ecKey.PublicKey, asn1, true, false},
		{"ECDSA in longer halves", "ES256", &ecKey.PublicKey, halves(48), true, false},
		{"a signature of zeros", "ES256", &ecKey.PublicKey, zeros, true, false},
		{"another curve", "ES384", &ecKey.PublicKey, halves(48), true, false},
		{"of another text", "Ed25519", edPublic, func(string) []byte { return edSignature("e30.e30") }, true, false},
		{"RSA under ECDSA", "ES256", &rsaKey.PublicKey, pkcs1, false, false},
		{"RSA under EdDSA", "EdDSA", &rsaKey.PublicKey, pkcs1, false, false},
		{"ECDSA under RSA", "RS256", &ecKey.PublicKey, halves(32), false, false},
		{"Ed25519 under RSA", "RS256", edPublic, edSignature, false, false},
		{"a short Ed25519 key", "EdDSA", edPublic[:31], edSignature, false, false},
		{"a public key as a secret", "HS256", &rsaKey.PublicKey, pkcs1, false, false},
		{"a secret", "RS256", []byte("secret"), pkcs1, false, false},
		{"none", "none", &rsaKey.PublicKey, zeros, false, false},
	} {
		encode := base64.RawURLEncoding.EncodeToString
		signed := encode([]byte(`{"alg":"`+row.alg+`"}`)) + ".e30"
		token, err := readCompact(signed + "." + encode(row.sign(signed)))
		if err != nil || token.parseJWS() != nil {
			t.Fatal(row.name, err)
		}
		fit := fits(token.alg, row.key)
		if good := fit && token.verifies(row.key); fit != row.fits || good != row.good {
			t.Errorf("%s: fits %t, good %t", row.name, fit, good)
		}
	}
}
