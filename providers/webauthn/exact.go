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

// exact rejects responses that browsers never send but go-webauthn accepts: an origin that is not serialized as
// browsers do, a duplicate member of the client data, or two different IDs. Two programs could read such a response in
// different ways, which an attacker could use to hide something from one of them.
func exact(id string, rawID, clientData []byte, origin string) error {
	named, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(id, "="))
	switch {
	case err != nil || !bytes.Equal(named, rawID):
		return errors.New("id and rawId differ")
	case !serialized(origin):
		return errors.New("the origin is not serialized as browsers do")
	}
	return namedOnce(clientData)
}

// serialized reports whether an origin is serialized as browsers do (HTML Standard, "ASCII serialization of an
// origin"): scheme and host in lower case, no default port, nothing else. Other schemes are those of native apps, which
// go-webauthn compares as text.
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

// namedOnce returns an error if an object has a duplicate member, or a member that differs from a known name only in
// case. encoding/json would accept such a member as the known one.
func namedOnce(object []byte) error {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New("the client data is not an object")
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return errors.New("the client data is not JSON")
		}
		folded := strings.ToLower(name.(string)) //nolint:forcetypeassert // names of members are strings
		if seen[folded] {
			return errors.New("the client data has a duplicate member")
		}
		seen[folded] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return errors.New("the client data is not JSON")
		}
	}
	return nil
}

// exactCreation is exact for registrations. The attestation object must not have trailing data.
func exactCreation(answer *protocol.ParsedCredentialCreationData) error {
	raw := answer.Raw.AttestationResponse
	if err := cbor.Wellformed(raw.AttestationObject); err != nil {
		return errors.New("the attestation object is not a single CBOR item")
	}
	return exact(answer.ID, answer.RawID, raw.ClientDataJSON, answer.Response.CollectedClientData.Origin)
}

// exactAssertion is exact for authentications. It rejects a relying party hash of zeros, which go-webauthn accepts for
// U2F AppIDs, because Latchkey does not support those. A signature must be in its only valid encoding.
func exactAssertion(answer *protocol.ParsedCredentialAssertionData, rpID string, key []byte) error {
	relyingParty := sha256.Sum256([]byte(rpID))
	switch {
	case !bytes.Equal(answer.Response.AuthenticatorData.RPIDHash, relyingParty[:]):
		return errors.New("the response is for another relying party")
	case !oneSpelling(answer.Response.Signature, key):
		return errors.New("the signature is not encoded as authenticators do")
	}
	return exact(answer.ID, answer.RawID, answer.Raw.AssertionResponse.ClientDataJSON,
		answer.Response.CollectedClientData.Origin)
}

// oneSpelling reports whether an elliptic curve signature is the DER encoding of its two numbers (RFC 3279 section
// 2.2.3), without ignored or trailing bytes. Signatures of other keys have a fixed length.
func oneSpelling(signature, key []byte) bool {
	parsed, err := webauthncose.ParsePublicKey(key)
	if _, curve := parsed.(webauthncose.EC2PublicKeyData); err != nil || !curve {
		return true // the verification rejects an invalid key
	}
	var numbers struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(signature, &numbers); err != nil {
		return false
	}
	again, err := asn1.Marshal(numbers)
	return err == nil && bytes.Equal(again, signature)
}
