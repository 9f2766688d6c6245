package webauthn_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"math/big"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// coseKey is a public key with its members by number (RFC 9052 section 7).
type coseKey map[int]any

// ec2 returns a key of an elliptic curve.
func ec2(t *testing.T, curve elliptic.Curve, alg, number int) coseKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	half := (len(point) - 1) / 2
	return coseKey{1: 2, 3: alg, -1: number, -2: point[1 : 1+half], -3: point[1+half:]}
}

// okp returns a key of Ed25519.
func okp(t *testing.T) coseKey {
	t.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return coseKey{1: 1, 3: -8, -1: 6, -2: []byte(public)}
}

// modulus returns an odd number with this number of bits.
func modulus(bits uint) []byte {
	n := new(big.Int).Lsh(big.NewInt(1), bits-1)
	return n.SetBit(n, 0, 1).Bytes()
}

// with returns a copy of a key with one member replaced.
func (k coseKey) with(member int, value any) coseKey {
	k[member] = value
	return k
}

// TestPublicKeys registers passkeys with public keys that cannot verify any signature, and with valid ones.
func TestPublicKeys(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p256 := func() coseKey { return ec2(t, elliptic.P256(), -7, 1) }
	rs256 := func() coseKey { return coseKey{1: 3, 3: -257, -1: rsaKey.N.Bytes(), -2: []byte{1, 0, 1}} }
	off := p256()
	off[-3] = bytes.Repeat([]byte{1}, 32)
	for name, row := range map[string]struct {
		key coseKey
		ok  bool
	}{
		"ES256": {p256(), true}, "ES384": {ec2(t, elliptic.P384(), -35, 2), true},
		"ES512": {ec2(t, elliptic.P521(), -36, 3), true}, "EdDSA": {okp(t), true}, "RS256": {rs256(), true},
		"not on the curve":                 {off, false},
		"at infinity":                      {p256().with(-2, make([]byte, 32)).with(-3, make([]byte, 32)), false},
		"a coordinate too long":            {p256().with(-2, make([]byte, 33)), false},
		"a coordinate too short":           {p256().with(-2, []byte{1}), false},
		"without y":                        {coseKey{1: 2, 3: -7, -1: 1, -2: make([]byte, 32)}, false},
		"the curve of another":             {ec2(t, elliptic.P384(), -7, 2), false},
		"the number of another curve":      {ec2(t, elliptic.P256(), -7, 2), false},
		"an unknown curve":                 {ec2(t, elliptic.P256(), -7, 9), false},
		"an unknown algorithm":             {ec2(t, elliptic.P256(), -47, 8), false},
		"RSA with the algorithm of EC":     {rs256().with(3, -7), false},
		"RSA of 1024 bits":                 {rs256().with(-1, modulus(1024)), false},
		"RSA of 2047 bits":                 {rs256().with(-1, modulus(2047)), false},
		"RSA of 65536 bits":                {rs256().with(-1, modulus(65536)), false},
		"an even modulus":                  {rs256().with(-1, new(big.Int).Lsh(big.NewInt(1), 2047).Bytes()), false},
		"the exponent 1":                   {rs256().with(-2, []byte{1}), false},
		"an even exponent":                 {rs256().with(-2, []byte{1, 0, 0}), false},
		"no exponent":                      {rs256().with(-2, []byte{}), false},
		"a huge exponent":                  {rs256().with(-2, bytes.Repeat([]byte{0xff}, 256)), false},
		"Ed25519 of 31 bytes":              {okp(t).with(-2, make([]byte, 31)), false},
		"Ed25519 of 33 bytes":              {okp(t).with(-2, make([]byte, 33)), false},
		"Ed25519 that is no point":         {okp(t).with(-2, append([]byte{2}, make([]byte, 31)...)), false},
		"Ed25519 beyond the field":         {okp(t).with(-2, bytes.Repeat([]byte{0xff}, 32)), false},
		"Ed25519 with the curve of X25519": {okp(t).with(-1, 4), false},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := cbor.Marshal(row.key)
			if err != nil {
				t.Fatal(err)
			}
			credential := authenticator.New("credential")
			ceremony, expected := good(), want
			expected.Algorithms = []int{-7, -35, -36, -8, -257, -47}
			ceremony.BeforeData = func(data []byte) []byte {
				return append(data[:len(data)-len(credential.PublicKey())], raw...)
			}
			_, err = webauthn.Verifier{}.VerifyRegistration([]byte(credential.Register(ceremony)), expected)
			if (err == nil) != row.ok {
				t.Errorf("ok %v, want %v: %v", err == nil, row.ok, err)
			}
		})
	}
}

// TestFurtherOrigins registers and signs in from the origins of one relying party.
func TestFurtherOrigins(t *testing.T) {
	const app = "android:apk-key-hash:sjYxLHZ3Vq0T0pDQbmN6x9a5d6dJ1t2pYxXlzqf3Gk4"
	expected := want
	expected.Origins = []string{"https://www.app.example", app}
	for origin, ok := range map[string]bool{
		"https://app.example": true, "https://www.app.example": true, app: true,
		"https://evil.example": false, "https://www.app.example:8443": false, "http://www.app.example": false,
		"https://WWW.app.example": false, strings.ToLower(app): false, app + "A": false, "android:apk-key-hash:": false,
		"null": false, "": false, "https://app.example.evil.example": false,
	} {
		t.Run(origin, func(t *testing.T) {
			key, ceremony := authenticator.New("credential"), good()
			ceremony.Origin = origin
			made, err := webauthn.Verifier{}.VerifyRegistration([]byte(key.Register(ceremony)), expected)
			if (err == nil) != ok {
				t.Fatalf("registration: ok %v, want %v: %v", err == nil, ok, err)
			}
			if made == nil {
				genuine, failed := webauthn.Verifier{}.VerifyRegistration([]byte(key.Register(good())), expected)
				if failed != nil {
					t.Fatal(failed)
				}
				made = genuine
			}
			stored := &store.Authenticator{CredentialPublicKey: made.CredentialPublicKey}
			_, err = webauthn.Verifier{}.VerifyAuthentication([]byte(key.Authenticate(ceremony)), stored, expected)
			if (err == nil) != ok {
				t.Errorf("authentication: ok %v, want %v: %v", err == nil, ok, err)
			}
			one := want
			_, err = webauthn.Verifier{}.VerifyAuthentication([]byte(key.Authenticate(ceremony)), stored, one)
			if (err == nil) != (origin == want.Origin) {
				t.Errorf("without further origins: %v", err)
			}
		})
	}

}
