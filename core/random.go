package core

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"io"
	"strings"
)

// randomBytes returns n bytes of the configured source. A source that fails is an error, never a guessable value.
func randomBytes(source io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(source, b); err != nil {
		return nil, errorf(AuthError, "random source: %w", err)
	}
	return b, nil
}

// randomHex returns n random bytes as 2n hex digits.
func randomHex(source io.Reader, n int) (string, error) {
	b, err := randomBytes(source, n)
	return hex.EncodeToString(b), err
}

// randomText returns 256 random bits as 43 characters of base64url: a code verifier (RFC 7636 section 4.1), a nonce.
func randomText(source io.Reader) (string, error) {
	b, err := randomBytes(source, 32)
	return base64.RawURLEncoding.EncodeToString(b), err
}

// uuid returns a random UUID (RFC 9562 version 4).
func uuid(source io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(source, b[:]); err != nil {
		return "", errorf(AuthError, "random source: %w", err)
	}
	return uuidOf(b, 4), nil
}

// uuidOf spells bytes as a UUID of a version (RFC 9562 section 4).
func uuidOf(b [16]byte, version byte) string {
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

// hashed returns the lower-case hex SHA-256 of value followed by secret: the form in which Auth.js guards CSRF cookies and the
// tokens of sign-in links.
func hashed(value, secret string) string {
	sum := sha256.Sum256([]byte(value + secret))
	return hex.EncodeToString(sum[:])
}

// hashes lists the hashes of value that count: one per secret, and the one over all secrets joined with commas, which Auth.js
// makes of a list.
func hashes(value string, secrets []string) []string {
	var all []string
	for _, s := range secrets {
		all = append(all, hashed(value, s))
	}
	if len(secrets) > 1 {
		all = append(all, hashed(value, strings.Join(secrets, ",")))
	}
	return all
}

// sameText compares two secret texts, or their hashes, in time that depends on their lengths alone. Whatever a stranger could
// guess character by character is compared here.
func sameText[A, B ~string | ~[]byte](a A, b B) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
