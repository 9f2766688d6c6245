package ascii

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
