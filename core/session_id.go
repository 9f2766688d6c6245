package core

import (
	"crypto/sha256"
	"encoding/base64"
)

func sessionKey(kept string) [16]byte {
	const purpose = "latchkey session\x00"
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), purpose...), kept...))
	return [16]byte(sum[:16])
}

func idText(id [16]byte) string {
	var text [22]byte
	base64.RawURLEncoding.Encode(text[:], id[:])
	return string(text[:])
}

// publicID is the ID of a session: a hash of what the store has of its token, or of the claim sid.
func publicID(kept string) string { return idText(sessionKey(kept)) }

func idOf(text string) (id [16]byte, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return [16]byte(append(raw, make([]byte, 16)...)), err == nil && len(raw) == 16
}
