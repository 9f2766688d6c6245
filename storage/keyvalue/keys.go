package keyvalue

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// The sets that belong to no user.
const (
	allSessions = "sessions"
	allTokens   = "tokens"
	staleUsers  = "stale"
	allEnds     = "ends"
)

// key joins a kind and parts that are escaped already.
func key(kind string, parts ...string) string { return kind + "/" + strings.Join(parts, "/") }

// longest is how long a part of a key may be before its hash takes its place.
const longest = 400

// escaped is a text as a part of a key: without slashes and control characters, never empty, and another one for every
// text.
func escaped(text string) string {
	if len(text) > longest {
		sum := sha256.Sum256([]byte(text))
		return "~" + hex.EncodeToString(sum[:])
	}
	if text == "" {
		return "%"
	}
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c <= ' ' || c == 0x7f || c == '%' || c == '/' || c == '~' && i == 0 {
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// impossible reports whether one of the texts cannot be stored.
func impossible(texts ...string) bool {
	for _, text := range texts {
		if strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text) {
			return true
		}
	}
	return false
}
