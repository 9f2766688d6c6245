package verify

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// encoding is base64url without padding (RFC 7515 section 2). Strict refuses a second encoding of the same bytes; line
// breaks, which it skips, are refused before.
var encoding = base64.RawURLEncoding.Strict()

// signed is a token in the compact form (RFC 7515 section 7.1), whose signature was not verified.
type signed struct {
	alg, kid  string
	text      string // the signed text
	payload   []byte
	signature []byte
}

// parseSigned parses a token. It reads only the algorithm, the type and the key ID of the header: keys and addresses in
// it (jwk, jku, x5c, x5u) are never used.
func parseSigned(token string) (*signed, error) {
	if len(token) > maxToken || strings.Count(token, ".") != 2 || strings.ContainsAny(token, "\r\n") {
		return nil, ErrMalformed
	}
	end := strings.LastIndexByte(token, '.')
	head, body, _ := strings.Cut(token[:end], ".")
	header, err := decodeObject(head)
	if err != nil {
		return nil, ErrMalformed
	}
	s := &signed{text: token[:end], alg: textOf(header["alg"]), kid: textOf(header["kid"])}
	kind := strings.TrimPrefix(strings.ToLower(textOf(header["typ"])), "application/")
	switch {
	case s.alg != algEdDSA && s.alg != algES256:
		return nil, ErrAlgorithm
	case kind != "at+jwt": // an ID token is not an access token (RFC 9068 section 4)
		return nil, ErrMalformed
	case header["crit"] != nil: // it requires extensions, and this package has none
		return nil, ErrMalformed
	case s.kid == "":
		return nil, ErrUnknownKey
	}
	if s.payload, err = encoding.DecodeString(body); err != nil {
		return nil, ErrMalformed
	}
	if s.signature, err = encoding.DecodeString(token[end+1:]); err != nil {
		return nil, ErrMalformed
	}
	return s, nil
}

// UnverifiedIssuer returns the issuer that an access token names (iss), without verifying anything. It is empty if the
// text is not an access token. A service that accepts several issuers uses it to select the [Verifier].
func UnverifiedIssuer(token string) string {
	s, err := parseSigned(token)
	if err != nil {
		return ""
	}
	claims, err := object(s.payload)
	if err != nil {
		return ""
	}
	return textOf(claims["iss"])
}

// decodeObject decodes a JSON object in base64url.
func decodeObject(part string) (map[string]json.RawMessage, error) {
	text, err := encoding.DecodeString(part)
	if err != nil {
		return nil, err
	}
	return object(text)
}

// object decodes a JSON object. Its names are compared exactly, which a struct does not do.
func object(text []byte) (members map[string]json.RawMessage, err error) {
	if err = json.Unmarshal(text, &members); err == nil && members == nil { // null
		err = ErrMalformed
	}
	return members, err
}

// textOf returns a JSON string, or "" for any other value.
func textOf(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}
