package oidc

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

const (
	maxIDToken = 256 << 10
	maxHeader  = 4 << 10
)

var errNotCompact = errors.New("it is not a signed token in compact form")

// compact is a parsed but unverified JWS in compact form (RFC 7515 section 3.1). The token is parsed once: the
// signature covers signed, and payload is used after verification.
type compact struct {
	// alg, in the name used here, and kid are the only header members that are used. Keys in or referenced by the header
	// are ignored.
	alg, kid           string
	headerAlg          string // the algorithm as the header names it
	raw, signed        string
	payload, signature []byte
	jws                *jose.JSONWebSignature // set by parseJWS
}

// readCompact parses a token strictly: three parts in canonical base64url, exact names, and no critical members.
func readCompact(raw string) (compact, error) { return readTyped(raw, "JWT") }

// readTyped is readCompact for tokens whose typ, if present, is one of types.
func readTyped(raw string, types ...string) (compact, error) {
	t := compact{raw: raw}
	if len(raw) > maxIDToken || strings.Count(raw, ".") != 2 {
		return t, errNotCompact
	}
	t.signed = raw[:strings.LastIndexByte(raw, '.')]
	head, body, _ := strings.Cut(t.signed, ".")
	signature := raw[len(t.signed)+1:]
	if head == "" || body == "" || signature == "" || len(head) > maxHeader {
		return t, errNotCompact
	}
	header, err := decodePart(head)
	if err != nil {
		return t, err
	}
	if t.payload, err = decodePart(body); err != nil {
		return t, err
	}
	if t.signature, err = decodePart(signature); err != nil {
		return t, err
	}
	if err := t.readHeader(header, types); err != nil {
		return t, fmt.Errorf("header: %w", err)
	}
	return t, nil
}

// decodePart decodes canonical base64url: without padding, line breaks and unused bits (RFC 7515 section 2).
func decodePart(part string) ([]byte, error) {
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil || strings.ContainsAny(part, "\r\n") { // the decoder ignores line breaks
		return nil, errors.New("a part is not in base64url")
	}
	return decoded, nil
}

// readHeader reads the members that are used. A null member counts as absent, as in claims.
func (t *compact) readHeader(header []byte, types []string) error {
	member := func(name string, value []byte) error {
		if exactjson.IsNull(value) {
			return nil
		}
		text, isText := exactjson.Text(value)
		switch name {
		case "alg":
			t.headerAlg, t.alg = text, byOneName(text)
		case "kid":
			if !isText {
				return errors.New("kid is not a string")
			}
			t.kid = text
		case "crit", "b64", "zip":
			return fmt.Errorf("it asks for %s", name)
		case "typ":
			if !isType(text, types) {
				return fmt.Errorf("typ is not %s: it is a token for something else", types[0])
			}
		}
		return nil
	}
	err := exactjson.Tolerant(header, trustedHeader, func(header []byte) error { return exactjson.Object(header, member) })
	if err == nil && t.alg == "" {
		return errors.New("no algorithm")
	}
	return err
}

// trustedHeader reports whether a member of a header is used.
func trustedHeader(name string) bool {
	switch name {
	case "alg", "kid", "typ", "crit", "b64", "zip":
		return true
	}
	return false
}

// isType reports whether a typ header is one of types. The prefix "application/" is optional if there is no other slash
// (RFC 7515 section 4.1.9). Media types are case-insensitive.
func isType(typ string, types []string) bool {
	const prefix = "application/"
	if len(typ) > len(prefix) && strings.EqualFold(typ[:len(prefix)], prefix) {
		typ = typ[len(prefix):]
	}
	return slices.ContainsFunc(types, func(t string) bool { return strings.EqualFold(typ, t) })
}
