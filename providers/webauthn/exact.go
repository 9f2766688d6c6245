package webauthn

import (
	"bytes"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/url"
	"strings"

	"github.com/fxamacker/cbor/v2"
	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// exact refuses what browsers do not write and go-webauthn reads over: an origin that is not spelled as origins are, a
// member of the client data that comes twice, two different ids. What one program reads in one way and another in
// another is a place to hide something.
func exact(id string, rawID, clientData []byte, origin string) error {
	named, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(id, "="))
	switch {
	case err != nil || !bytes.Equal(named, rawID):
		return errors.New("id and rawId differ")
	case !serialized(origin):
		return errors.New("the origin is not spelled as browsers do")
	}
	return namedOnce(clientData)
}

// serialized reports whether an origin is as browsers serialize it (HTML Standard, "ASCII serialization of an origin"):
// scheme and host in lower case, no port that is the scheme's own, nothing else. Other schemes are those of
// applications, which go-webauthn compares letter by letter.
func serialized(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return true
	}
	own := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	return origin == u.Scheme+"://"+strings.ToLower(u.Host) && u.Host != "" && u.Port() != own &&
		!strings.HasSuffix(u.Host, ":")
}

// namedOnce reports an object with a member that comes twice, or whose name differs from a known one in case alone,
// which encoding/json takes for it.
func namedOnce(object []byte) error {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New("the client data is no object")
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return errors.New("the client data is no JSON")
		}
		folded := strings.ToLower(name.(string)) //nolint:forcetypeassert // names of members are strings
		if seen[folded] {
			return errors.New("a member of the client data comes twice")
		}
		seen[folded] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return errors.New("the client data is no JSON")
		}
	}
	return nil
}

// exactCreation is exact for registrations. Behind the attestation object there is nothing.
func exactCreation(answer *protocol.ParsedCredentialCreationData) error {
	raw := answer.Raw.AttestationResponse
	if err := cbor.Wellformed(raw.AttestationObject); err != nil {
		return errors.New("the attestation object is not one item of CBOR")
	}
	return exact(answer.ID, answer.RawID, raw.ClientDataJSON, answer.Response.CollectedClientData.Origin)
}

// exactAssertion is exact for authentications. go-webauthn takes a relying party's hash of zeros, too: that of an
// AppID of U2F, of which there is none here. A signature has one spelling.
func exactAssertion(answer *protocol.ParsedCredentialAssertionData, rpID string, key []byte) error {
	relyingParty := sha256.Sum256([]byte(rpID))
	switch {
	case !bytes.Equal(answer.Response.AuthenticatorData.RPIDHash, relyingParty[:]):
		return errors.New("the answer is for another relying party")
	case !oneSpelling(answer.Response.Signature, key):
		return errors.New("the signature is not spelled as authenticators do")
	}
	return exact(answer.ID, answer.RawID, answer.Raw.AssertionResponse.ClientDataJSON,
		answer.Response.CollectedClientData.Origin)
}

// oneSpelling reports whether a signature by a key of an elliptic curve is the DER of its two numbers (RFC 3279 section
// 2.2.3), with nothing in it or behind it that is read over. Other kinds of keys have signatures of one length.
func oneSpelling(signature, key []byte) bool {
	parsed, err := webauthncose.ParsePublicKey(key)
	if _, curve := parsed.(webauthncose.EC2PublicKeyData); err != nil || !curve {
		return true // what is no key, the verification refuses
	}
	var numbers struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(signature, &numbers); err != nil {
		return false
	}
	again, err := asn1.Marshal(numbers)
	return err == nil && bytes.Equal(again, signature)
}
