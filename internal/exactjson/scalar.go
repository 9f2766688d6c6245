package exactjson

import "strings"

// Text returns the value of raw, which must be exactly one JSON string without white space around it; otherwise ok is
// false. If raw is a string without escapes, the result refers to it.
func Text[T ~string | ~[]byte](raw T) (s string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	r := reader{text: string(raw)}
	s, err := r.str()
	if err != nil || r.at != len(r.text) {
		return "", false
	}
	return s, true
}

// TextOf is [Text] for a value from [Object] or [ObjectText], which is known to be valid.
func TextOf(value string) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	if strings.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1], true
	}
	return Text(value)
}

// Texts returns the strings of raw, which must be exactly one JSON array of strings without white space around it;
// otherwise ok is false. The result of an empty array is not nil.
func Texts[T ~string | ~[]byte](raw T) (all []string, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	r := reader{text: string(raw)}
	all = []string{}
	err := r.array(1, func() error {
		s, err := r.str()
		all = append(all, s)
		return err
	})
	if err != nil || r.at != len(r.text) {
		return nil, false
	}
	return all, true
}

// IsNull reports whether raw is exactly null. It returns false for a nil raw, which means an absent member.
func IsNull[T ~string | ~[]byte](raw T) bool { return string(raw) == "null" }

// Int64 returns the value of raw, which must be exactly one JSON number. ok is false if it is something else, has a
// fractional part, or overflows: 12345.0 and 1e3 are integers, 1.5 is not. Nothing is rounded.
func Int64[T ~string | ~[]byte](raw T) (n int64, ok bool) {
	n, exact, ok := whole(raw)
	if !ok || !exact {
		return 0, false
	}
	return n, true
}

// Floor is [Int64] that rounds down: for times, which may have a fraction (RFC 7519 section 2, NumericDate) and are
// stored in whole seconds.
func Floor[T ~string | ~[]byte](raw T) (n int64, ok bool) {
	n, _, ok = whole(raw)
	return n, ok
}

// whole returns the largest integer that is not greater than the number, and whether they are equal.
func whole[T ~string | ~[]byte](raw T) (n int64, exact, ok bool) {
	if n, ok = plainWhole(raw); ok {
		return n, true, true
	}
	d, ok := parseDecimal(raw)
	if !ok {
		return 0, false, false
	}
	// The limit for the absolute value: 2^63 for negative numbers, one less for others.
	limit := uint64(1)<<63 - 1
	if d.negative {
		limit++
	}
	var u uint64
	exact = true
	for i := 0; i < d.digits(); i++ {
		c := uint64(d.digit(i))
		if i >= d.digits()+d.scale { // a digit after the decimal point
			exact = exact && c == 0
			continue
		}
		if u > (limit-c)/10 {
			return 0, false, false
		}
		u = u*10 + c
	}
	for s := d.scale; s > 0 && u > 0; s-- {
		if u > limit/10 {
			return 0, false, false
		}
		u *= 10
	}
	if !d.negative {
		return int64(u), exact, true
	}
	if !exact {
		if u == limit {
			return 0, false, false
		}
		u++
	}
	return -int64(u), exact, true // two's complement: also correct for 2^63
}

// plainWhole handles the most common integers: digits without sign, decimal point or exponent.
func plainWhole[T ~string | ~[]byte](raw T) (n int64, ok bool) {
	if len(raw) == 0 || len(raw) > 18 || raw[0] == '0' {
		return 0, false
	}
	for i := range len(raw) {
		if raw[i] < '0' || raw[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(raw[i]-'0')
	}
	return n, true
}

// decimal is a parsed number: the digits of integer and fraction, times ten to the power of scale.
type decimal[T ~string | ~[]byte] struct {
	integer, fraction T
	scale             int
	negative          bool
}

func (d *decimal[T]) digits() int { return len(d.integer) + len(d.fraction) }

func (d *decimal[T]) digit(i int) byte {
	if i < len(d.integer) {
		return d.integer[i] - '0'
	}
	return d.fraction[i-len(d.integer)] - '0'
}

// farExponent replaces all exponents that are too large for any number of digits to compensate. It fits into an int of
// 32 bits even with another digit appended.
const (
	farExponent       = 1 << 27
	_           int32 = farExponent*10 + 9
)

func parseDecimal[T ~string | ~[]byte](raw T) (d decimal[T], ok bool) {
	if end, ok := scanNumber(raw); !ok || end != len(raw) {
		return d, false
	}
	if d.negative = raw[0] == '-'; d.negative {
		raw = raw[1:]
	}
	n := digitsIn(raw)
	d.integer, raw = raw[:n], raw[n:]
	if len(raw) > 0 && raw[0] == '.' {
		n = digitsIn(raw[1:])
		d.fraction, raw = raw[1:1+n], raw[1+n:]
	}
	if len(raw) > 0 { // e or E
		raw = raw[1:]
		down := raw[0] == '-'
		if down || raw[0] == '+' {
			raw = raw[1:]
		}
		for i := range len(raw) {
			if d.scale < farExponent {
				d.scale = d.scale*10 + int(raw[i]-'0')
			}
		}
		if down {
			d.scale = -d.scale
		}
	}
	d.scale -= len(d.fraction)
	return d, true
}

// scanNumber returns where the number at the start of s ends; with ok false, where it went wrong.
func scanNumber[T ~string | ~[]byte](s T) (end int, ok bool) {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	n := digitsIn(s[i:])
	if n == 0 {
		return i, false
	}
	if n > 1 && s[i] == '0' {
		return i + 1, false
	}
	i += n
	if i < len(s) && s[i] == '.' {
		i++
		if n = digitsIn(s[i:]); n == 0 {
			return i, false
		}
		i += n
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if n = digitsIn(s[i:]); n == 0 {
			return i, false
		}
		i += n
	}
	return i, true
}

func digitsIn[T ~string | ~[]byte](s T) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}
