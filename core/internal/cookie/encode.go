package cookie

import (
	"strings"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core/internal/ascii"
)

// unreserved are the bytes that encodeURIComponent leaves alone (ECMA-262 section 19.2.6.4).
var unreserved = ascii.SetOf(func(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("-_.!~*'()", c) >= 0 })

// appendEncoded appends s as encodeURIComponent writes it. Bytes that are no UTF-8, which JavaScript strings cannot
// hold, are encoded as they are.
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

// Encode returns a value as a Cookie or Set-Cookie header has it.
func Encode(s string) string { return string(appendEncoded(make([]byte, 0, encodedLen(s)), s)) }

// EncodedLen returns the number of bytes that a value has in a Cookie or Set-Cookie header.
func EncodedLen(s string) int { return encodedLen(s) }

// encodedLen returns the number of bytes that appendEncoded would append for s.
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

// Decode undoes percent-encoding the way decodeURIComponent does: a value with a broken escape, or whose escapes
// give no UTF-8, is returned as it came (vectors cookie-parse). It does not allocate for a value without "%".
func Decode(s string) string {
	first := strings.IndexByte(s, '%')
	if first < 0 {
		return s
	}
	var short [256]byte // on the stack: our own small cookies fit
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
