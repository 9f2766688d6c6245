// Package ascii has functions for protocols with ASCII text.
package ascii

// IsAlnum reports whether c is an ASCII letter or digit.
func IsAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// Lower converts only ASCII letters to lower case. strings.ToLower would also map other characters to ASCII letters,
// such as the Kelvin sign.
func Lower(s string) string {
	for i := range len(s) {
		if c := s[i]; 'A' <= c && c <= 'Z' {
			return lower([]byte(s), i)
		}
	}
	return s
}

func lower(b []byte, from int) string {
	for i := from; i < len(b); i++ {
		if c := b[i]; 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// Unhex returns the value of a hexadecimal digit in either case. It returns -1 for any other byte.
func Unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// AppendPercent appends c percent-encoded, in upper case as RFC 3986 section 2.1 recommends.
func AppendPercent(dst []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[c>>4], digits[c&15])
}

// Set is a set of bytes.
type Set [256]bool

// SetOf returns the set of all bytes that in accepts.
func SetOf(in func(c byte) bool) *Set {
	var s Set
	for c := range len(s) {
		s[c] = in(byte(c))
	}
	return &s
}

// Lead returns the length of the longest prefix of text whose bytes are all in the set.
func (s *Set) Lead(text string) int {
	for i := range len(text) {
		if !s[text[i]] {
			return i
		}
	}
	return len(text)
}
