// Package authenticator is a software passkey (WebAuthn section 6) for tests. It creates the JSON that a browser sends
// for registrations and authentications. It can also create malformed and forged ones, which no browser would send.
package authenticator

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
)

// Credential is a passkey with an ES256 key and attestation "none".
type Credential struct {
	// ID is the credential ID.
	ID  []byte
	key *ecdsa.PrivateKey
}

// New creates a credential with a new key.
func New(id string) *Credential {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	return &Credential{ID: []byte(id), key: key}
}

// Flags of the authenticator data (WebAuthn section 6.1).
const (
	UserPresent    = 0x01 // the user has touched the device
	UserVerified   = 0x04 // by fingerprint, face or PIN
	BackupEligible = 0x08 // the passkey can be synced
	BackupState    = 0x10 // the passkey is synced
	attestedData   = 0x40
)

// Ceremony is the input of a registration or an authentication. The fields from Type on create responses that a
// server must refuse.
type Ceremony struct {
	// Challenge is the challenge of the options, in base64url. Origin is the site's origin, and RPID its relying party
	// ID.
	Challenge, Origin, RPID string
	// Flags are the flags of the authenticator data. The default is user present and user verified.
	Flags byte
	// Counter is the signature counter.
	Counter uint32
	// UserHandle is the user handle of an authentication.
	UserHandle []byte

	// AAGUID is the 16-byte AAGUID of a registration. The default is zeros.
	AAGUID []byte

	// Type replaces the type in the client data. CrossOrigin sets crossOrigin in the client data.
	Type        string
	CrossOrigin bool
	// ID replaces the credential ID of the response.
	ID []byte
	// SignedBy signs with another credential's key. Signature modifies the signature. ClientData modifies the client
	// data after it was signed.
	SignedBy              *Credential
	Signature, ClientData func([]byte) []byte
	// BeforeClientData and BeforeData modify the client data and the authenticator data before they are signed. Answer
	// modifies the members of the finished credential, which include "response".
	BeforeClientData, BeforeData func([]byte) []byte
	Answer                       func(credential map[string]any)

	// ShortSignature creates a signature in which one of the two numbers begins with a zero byte, which DER omits.
	// About one of 128 signatures of real authenticators has this form, and it is valid.
	ShortSignature bool
}

// fullSignature is the minimum length of an ES256 signature in DER if neither number begins with a zero byte.
const fullSignature = 70

// Register returns the JSON of a registration.
func (c *Credential) Register(x Ceremony) string {
	clientData := x.clientData("webauthn.create")
	data := x.authenticatorData(attestedData)
	id := x.id(c)
	aaguid := make([]byte, 16)
	copy(aaguid, x.AAGUID)
	data = append(data, aaguid...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(id)))
	data = append(append(data, id...), c.PublicKey()...)
	if x.BeforeData != nil {
		data = x.BeforeData(data)
	}
	object := []byte{0xa3} // a map of three
	object = append(cborText(object, "fmt"), cborText(nil, "none")...)
	object = append(cborText(object, "attStmt"), 0xa0)
	object = cborBytes(cborText(object, "authData"), data)
	return x.answer(c, map[string]any{
		"clientDataJSON": encode(x.after(clientData)), "attestationObject": encode(object),
		"transports": []string{"internal"},
	})
}

// Authenticate returns the JSON of an authentication.
func (c *Credential) Authenticate(x Ceremony) string {
	clientData, data := x.clientData("webauthn.get"), x.authenticatorData(0)
	if x.BeforeData != nil {
		data = x.BeforeData(data)
	}
	signer := c
	if x.SignedBy != nil {
		signer = x.SignedBy
	}
	hash := sha256.Sum256(clientData)
	digest := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, signer.key, digest[:])
	for err == nil && x.ShortSignature && len(signature) >= fullSignature {
		signature, err = ecdsa.SignASN1(rand.Reader, signer.key, digest[:])
	}
	if err != nil {
		panic(err)
	}
	if x.Signature != nil {
		signature = x.Signature(signature)
	}
	response := map[string]any{
		"clientDataJSON": encode(x.after(clientData)), "authenticatorData": encode(data),
		"signature": encode(signature),
	}
	if x.UserHandle != nil {
		response["userHandle"] = encode(x.UserHandle)
	}
	return x.answer(c, response)
}

// PublicKey returns the public key as a COSE key (RFC 9053 section 7.1.1).
func (c *Credential) PublicKey() []byte {
	point, err := c.key.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	key := []byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21} // kty EC2, alg ES256, crv P-256, x
	key = cborBytes(key, point[1:33])
	return cborBytes(append(key, 0x22), point[33:]) // y
}

func (x Ceremony) clientData(kind string) []byte {
	if x.Type != "" {
		kind = x.Type
	}
	raw, err := json.Marshal(struct {
		Type        string `json:"type"`
		Challenge   string `json:"challenge"`
		Origin      string `json:"origin"`
		CrossOrigin bool   `json:"crossOrigin"`
	}{kind, x.Challenge, x.Origin, x.CrossOrigin})
	if err != nil {
		panic(err)
	}
	if x.BeforeClientData != nil {
		raw = x.BeforeClientData(raw)
	}
	return raw
}

func (x Ceremony) after(clientData []byte) []byte {
	if x.ClientData != nil {
		return x.ClientData(clientData)
	}
	return clientData
}

func (x Ceremony) authenticatorData(extra byte) []byte {
	flags := x.Flags
	if flags == 0 {
		flags = UserPresent | UserVerified
	}
	hash := sha256.Sum256([]byte(x.RPID))
	return binary.BigEndian.AppendUint32(append(hash[:], flags|extra), x.Counter)
}

func (x Ceremony) id(c *Credential) []byte {
	if x.ID != nil {
		return x.ID
	}
	return c.ID
}

func (x Ceremony) answer(c *Credential, response map[string]any) string {
	id := encode(x.id(c))
	credential := map[string]any{
		"id": id, "rawId": id, "type": "public-key", "clientExtensionResults": struct{}{}, "response": response,
	}
	if x.Answer != nil {
		x.Answer(credential)
	}
	raw, err := json.Marshal(credential)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// cborText and cborBytes append a text or byte string (RFC 8949 section 3.1).
func cborText(dst []byte, s string) []byte { return append(cborHead(dst, 0x60, len(s)), s...) }
func cborBytes(dst, b []byte) []byte       { return append(cborHead(dst, 0x40, len(b)), b...) }

func cborHead(dst []byte, major byte, n int) []byte {
	switch {
	case n < 24:
		return append(dst, major|byte(n))
	case n < 256:
		return append(dst, major|24, byte(n))
	}
	return binary.BigEndian.AppendUint16(append(dst, major|25), uint16(n))
}
