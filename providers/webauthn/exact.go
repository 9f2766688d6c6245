package webauthn

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/fxamacker/cbor/v2"
	"github.com/go-webauthn/webauthn/protocol"
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

// exactAssertion is exact for authentications.
func exactAssertion(answer *protocol.ParsedCredentialAssertionData) error {
	return exact(answer.ID, answer.RawID, answer.Raw.AssertionResponse.ClientDataJSON,
		answer.Response.CollectedClientData.Origin)
}
