package keyvalue

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode/utf8"
)

// The sets that do not belong to a user.
const (
	allSessions = "sessions"
	allTokens   = "tokens"
	allRecords  = "records" // those that expire
	staleUsers  = "stale"
	allEnds     = "ends"
)

// key joins a kind and parts that are already escaped.
func key(kind string, parts ...string) string {
	if len(parts) == 1 {
		return kind + "/" + parts[0]
	}
	return kind + "/" + strings.Join(parts, "/")
}

// longest is the maximum length of a part of a key. A longer part is replaced by its hash.
const longest = 400

// escaped converts a text to a part of a key: without slashes and control characters, never empty, and distinct for
// every text.
func escaped(text string) string {
	if len(text) > longest {
		sum := sha256.Sum256([]byte(text))
		return "~" + hex.EncodeToString(sum[:])
	}
	if text == "" {
		return "%"
	}
	plain := func(i int) bool {
		c := text[i]
		return c > ' ' && c != 0x7f && c != '%' && c != '/' && (c != '~' || i > 0)
	}
	n := 0
	for n < len(text) && plain(n) {
		n++
	}
	if n == len(text) {
		return text
	}
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	b.WriteString(text[:n])
	for i := n; i < len(text); i++ {
		c := text[i]
		if !plain(i) {
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// unescaped reverses escaped. ok is false if the part is a hash.
func unescaped(part string) (text string, ok bool) {
	if strings.HasPrefix(part, "~") {
		return "", false
	}
	if part == "%" {
		return "", true
	}
	text, err := url.PathUnescape(part)
	return text, err == nil
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
