// Package random reads random bytes from a source that the caller gives and spells them, and compares secret texts. A
// source that fails is an error, never a guessable value.
package random

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
)

// Bytes returns n random bytes.
func Bytes(source io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(source, b); err != nil {
		return nil, fmt.Errorf("random source: %w", err)
	}
	return b, nil
}

// Hex returns n random bytes as 2n hexadecimal digits in lower case.
func Hex(source io.Reader, n int) (string, error) {
	b, err := Bytes(source, n)
	return hex.EncodeToString(b), err
}

// Text returns 256 random bits as 43 characters of base64url: a code verifier (RFC 7636 section 4.1), a nonce.
func Text(source io.Reader) (string, error) {
	b, err := Bytes(source, 32)
	return base64.RawURLEncoding.EncodeToString(b), err
}

// UUID returns a random UUID (RFC 9562 version 4).
func UUID(source io.Reader) (string, error) {
	b, err := Bytes(source, 16)
	if err != nil {
		return "", err
	}
	return UUIDOf([16]byte(b), 4), nil
}

// UUIDOf spells bytes as a UUID of a version, in lower case (RFC 9562 section 4).
func UUIDOf(b [16]byte, version byte) string {
	b[6], b[8] = b[6]&0x0f|version<<4, b[8]&0x3f|0x80
	var s [36]byte
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}

// Same reports whether two secret texts, or their hashes, are equal, in a time that depends on their lengths alone.
// What a stranger could guess character by character, from how long an answer takes, is compared here.
func Same[A, B ~string | ~[]byte](a A, b B) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
