package webauthn

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// p256 returns a key and its public point, uncompressed.
func p256(t *testing.T) (private *ecdsa.PrivateKey, point []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if point, err = private.PublicKey.Bytes(); err != nil {
		t.Fatal(err)
	}
	return private, point
}

// TestExact calls the checks alone, because the present version of go-webauthn rejects most of these responses too.
func TestExact(t *testing.T) {
	const origin, data = "https://app.example", `{"type":"webauthn.get"}`
	private, point := p256(t)
	key, err := cbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	if err != nil {
		t.Fatal(err)
	}
	signature, err := private.Sign(rand.Reader, make([]byte, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	withExtra := append([]byte{0x30, signature[1] + 3}, append(signature[2:len(signature):len(signature)], 2, 1, 1)...)
	relyingParty := sha256.Sum256([]byte("app.example"))
	for _, row := range []struct {
		name, id        string
		hash, signature []byte
		ok              bool
	}{
		{"a valid response", "key", relyingParty[:], signature, true},
		{"another ID", "other", relyingParty[:], signature, false},
		{"a relying party hash of zeros", "key", make([]byte, 32), signature, false},
		{"bytes after the signature", "key", relyingParty[:], append(signature[:len(signature):len(signature)], 0), false},
		{"a third number in the signature", "key", relyingParty[:], withExtra, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var answer protocol.ParsedCredentialAssertionData
			answer.ID, answer.RawID = base64.RawURLEncoding.EncodeToString([]byte(row.id)), []byte("key")
			answer.Raw.AssertionResponse.ClientDataJSON = []byte(data)
			answer.Response.CollectedClientData.Origin = origin
			answer.Response.AuthenticatorData.RPIDHash, answer.Response.Signature = row.hash, row.signature
			if err := exactAssertion(&answer, "app.example", key); (err == nil) != row.ok {
				t.Errorf("an authentication: %v", err)
			}
		})
	}
	for name, row := range map[string]struct {
		attestation []byte
		ok          bool
	}{"one item": {[]byte{0xa0}, true}, "bytes after it": {[]byte{0xa0, 0}, false}} {
		t.Run(name, func(t *testing.T) {
			var answer protocol.ParsedCredentialCreationData
			answer.ID, answer.RawID = base64.RawURLEncoding.EncodeToString([]byte("key")), []byte("key")
			answer.Raw.AttestationResponse.ClientDataJSON = []byte(data)
			answer.Raw.AttestationResponse.AttestationObject = row.attestation
			answer.Response.CollectedClientData.Origin = origin
			if err := exactCreation(&answer); (err == nil) != row.ok {
				t.Errorf("a registration: %v", err)
			}
		})
	}
}

// TestOnCurve moves a point off its curve. It calls onCurve alone, because go-webauthn rejects such a point too.
func TestOnCurve(t *testing.T) {
	_, point := p256(t)
	key := webauthncose.EC2PublicKeyData{
		PublicKeyData: webauthncose.PublicKeyData{Algorithm: int64(webauthncose.AlgES256)},
		Curve:         int64(webauthncose.P256), XCoord: point[1:33], YCoord: point[33:],
	}
	if !onCurve(key) {
		t.Error("a point on the curve is refused")
	}
	key.YCoord[31] ^= 1
	if onCurve(key) {
		t.Error("a point beside the curve is accepted")
	}
}
