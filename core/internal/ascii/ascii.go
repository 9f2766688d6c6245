// Package ascii reads and writes bytes as protocols do that know no other letters.
package ascii

// IsAlnum reports whether a byte is a letter or a digit.
func IsAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// Lower lower-cases the letters of s and nothing else: strings.ToLower would fold letters from elsewhere, as the Kelvin
// sign, into them.
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

// Unhex returns the value of a hexadecimal digit in either case, -1 for any other byte.
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

// AppendPercent appends a byte percent-encoded, in upper case as RFC 3986 section 2.1 recommends.
func AppendPercent(dst []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[c>>4], digits[c&15])
}

// Set is a set of bytes: 0 for those that are in it, so that looking at several takes one comparison.
type Set [256]uint8

// SetOf is the set of the bytes that are in.
func SetOf(in func(c byte) bool) *Set {
	var s Set
	for c := range len(s) {
		if !in(byte(c)) {
			s[c] = 1
		}
	}
	return &s
}

// Lead returns how many bytes of text, from the first, are in the set. It looks at eight at a time: what asks is mostly
// about a whole token.
func (s *Set) Lead(text string) (n int) {
	for rest := text; len(rest) >= 8; rest = rest[8:] {
		b := rest[:8]
		if s[b[0]]|s[b[1]]|s[b[2]]|s[b[3]]|s[b[4]]|s[b[5]]|s[b[6]]|s[b[7]] != 0 {
			break
		}
		n += 8
	}
	for n < len(text) && s[text[n]] == 0 {
		n++
	}
	return n
}
