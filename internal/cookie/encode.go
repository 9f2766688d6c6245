package cookie

import (
	"strings"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/internal/ascii"
)

// unreserved are the bytes that encodeURIComponent does not encode (ECMA-262 section 19.2.6.4).
var unreserved = ascii.SetOf(func(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("-_.!~*'()", c) >= 0 })

// appendEncoded appends s percent-encoded, as encodeURIComponent does. Invalid UTF-8, which JavaScript strings cannot
// contain, is encoded byte by byte.
func appendEncoded(dst []byte, s string) []byte {
	for {
		n := unreserved.Lead(s)
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return dst
		}
		dst = ascii.AppendPercent(dst, s[n])
		s = s[n+1:]
	}
}

// Encode returns a value encoded for a Cookie or Set-Cookie header.
func Encode(s string) string { return string(appendEncoded(make([]byte, 0, encodedLen(s)), s)) }

// EncodedLen returns the length of an encoded value in bytes.
func EncodedLen(s string) int { return encodedLen(s) }

// encodedLen returns the number of bytes that appendEncoded appends for s.
func encodedLen(s string) int {
	length := len(s)
	for {
		n := unreserved.Lead(s)
		if n == len(s) {
			return length
		}
		length += 2
		s = s[n+1:]
	}
}

// Decode decodes percent-encoding like decodeURIComponent. A value with an invalid escape sequence, or whose decoded
// bytes are not UTF-8, is returned unchanged (vectors cookie-parse). It does not allocate for a value without "%".
func Decode(s string) string {
	first := strings.IndexByte(s, '%')
	if first < 0 {
		return s
	}
	var short [256]byte // on the stack; small cookies fit
	out := append(short[:0], s[:first]...)
	for i := first; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if i+2 >= len(s) {
			return s
		}
		hi, lo := ascii.Unhex(s[i+1]), ascii.Unhex(s[i+2])
		if hi < 0 || lo < 0 {
			return s
		}
		out = append(out, byte(hi<<4|lo))
		i += 2
	}
	if !utf8.Valid(out) {
		return s
	}
	return string(out)
}
