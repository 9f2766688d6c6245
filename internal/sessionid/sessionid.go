// Package sessionid derives the public ID of a session from its token. The ID is not a secret: it cannot be used to
// sign in, and the token cannot be computed from it.
package sessionid

import (
	"crypto/sha256"
	"encoding/base64"
)

// ID is the public ID of a session.
type ID [16]byte

// Of returns the ID for a text: a session token as the store contains it, the claim sid or jti of a session token, or
// any other text that needs a short key.
func Of(text string) ID {
	const purpose = "latchkey session\x00"
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), purpose...), text...))
	return ID(sum[:16])
}

// String returns the ID as 22 characters of unpadded base64url.
func (id ID) String() string {
	var text [22]byte
	base64.RawURLEncoding.Encode(text[:], id[:])
	return string(text[:])
}

// Parse parses the output of String. It accepts one spelling of each ID.
func Parse(text string) (id ID, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return ID(append(raw, make([]byte, 16)...)), err == nil && len(raw) == 16
}
