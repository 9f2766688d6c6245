// Package random reads random bytes from a given source, formats them, and compares secret texts. If a source fails,
// functions return an error, never a predictable value.
package random

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
)

// Bytes returns n random bytes.
func Bytes(source io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	if err := Fill(source, b); err != nil {
		return nil, err
	}
	return b, nil
}

// system is the source of the system at the start of the program.
var system = rand.Reader

// Fill fills b with random bytes. With the system's source, b can be on the stack; with another source, it is
// allocated.
func Fill(source io.Reader, b []byte) error {
	if source == system {
		_, _ = rand.Read(b) // never fails
		return nil
	}
	read := make([]byte, len(b))
	if _, err := io.ReadFull(source, read); err != nil {
		return fmt.Errorf("random source: %w", err)
	}
	copy(b, read)
	return nil
}

// Hex returns n random bytes as 2n hexadecimal digits in lower case.
func Hex(source io.Reader, n int) (string, error) {
	b := make([]byte, 2*n)
	if err := Fill(source, b[n:]); err != nil {
		return "", err
	}
	hex.Encode(b, b[n:]) // each byte is read before its two digits overwrite it
	return string(b), nil
}

// Text returns 256 random bits as 43 characters of base64url: a code verifier (RFC 7636 section 4.1), a nonce.
func Text(source io.Reader) (string, error) {
	var b [32]byte
	if err := Fill(source, b[:]); err != nil {
		return "", err
	}
	var text [43]byte
	base64.RawURLEncoding.Encode(text[:], b[:])
	return string(text[:]), nil
}

// UUID returns a random UUID (RFC 9562 version 4).
func UUID(source io.Reader) (string, error) {
	var b [16]byte
	if err := Fill(source, b[:]); err != nil {
		return "", err
	}
	return UUIDOf(b, 4), nil
}

const uuidLen = 36

// UUIDOf formats b as a UUID of a version, in lower case (RFC 9562 section 4).
func UUIDOf(b [16]byte, version byte) string {
	text := spell(b, version)
	return string(text[:])
}

// AppendUUIDOf appends the result of UUIDOf to dst.
func AppendUUIDOf(dst []byte, b [16]byte, version byte) []byte {
	text := spell(b, version)
	return append(dst, text[:]...)
}

func spell(b [16]byte, version byte) (s [uuidLen]byte) {
	b[6], b[8] = b[6]&0x0f|version<<4, b[8]&0x3f|0x80
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return s
}

// Same reports whether two secret texts, or their hashes, are equal, in a time that depends only on their lengths. Use
// it for every comparison where an attacker could otherwise guess a text character by character from response times.
func Same[A, B ~string | ~[]byte](a A, b B) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
