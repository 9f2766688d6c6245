// Package authenticator is a passkey in software (WebAuthn section 6): it answers registrations and authentications the
// way a browser hands them on, and, told to, the way a browser never would.
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

// Credential is one passkey: ES256, attestation "none".
type Credential struct {
	// ID is the credential id.
	ID  []byte
	key *ecdsa.PrivateKey
}

// New makes a credential with a fresh key.
func New(id string) *Credential {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return &Credential{ID: []byte(id), key: key}
}

// The flags of authenticator data (WebAuthn section 6.1).
const (
	UserPresent    = 0x01
	UserVerified   = 0x04
	BackupEligible = 0x08
	BackupState    = 0x10
	attestedData   = 0x40
)

// Ceremony is what a credential is asked for. Fields behind the first block make answers that must be refused.
type Ceremony struct {
	// Challenge is in base64url, as options have it. Origin and RPID are the site's.
	Challenge, Origin, RPID string
	// Flags are those of the authenticator data; zero: user present and verified.
	Flags byte
	// Counter is the signature counter.
	Counter uint32
	// UserHandle goes into authentications.
	UserHandle []byte

	// Type replaces the type of the client data, CrossOrigin sets its member.
	Type        string
	CrossOrigin bool
	// ID replaces the credential id that the answer names.
	ID []byte
	// SignedBy signs in place of the credential. Signature alters the signature, ClientData the client data after signing.
	SignedBy              *Credential
	Signature, ClientData func([]byte) []byte
	// BeforeClientData and BeforeData alter client data and authenticator data before they are signed, Answer what the
	// browser hands on afterwards: the members of the credential, its "response" among them.
	BeforeClientData, BeforeData func([]byte) []byte
	Answer                       func(credential map[string]any)

	// ShortSignature makes a signature one of whose two numbers begins with a zero byte, which DER leaves out: one of 128
	// that authenticators make is like that, and it is as good as any.
	ShortSignature bool
}

// fullSignature is the least length of an ES256 signature in DER of which neither number begins with a zero byte.
const fullSignature = 70

// Register answers a registration as JSON text.
func (c *Credential) Register(x Ceremony) string {
	clientData := x.clientData("webauthn.create")
	data := x.authenticatorData(attestedData)
	id := x.id(c)
	data = append(data, make([]byte, 16)...) // AAGUID
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

// Authenticate answers an authentication as JSON text.
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

// PublicKey is the COSE key (RFC 9053 section 7.1.1).
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
