package exactjson

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// reader parses text. Every method that reads a value starts at its first byte and ends after its last.
type reader struct {
	text string
	at   int
}

func (r *reader) fail(reason string) error { return &Error{Reason: reason, Offset: r.at} }

func (r *reader) blanks() {
	if r.at < len(r.text) && r.text[r.at] <= ' ' { // rare
		r.skipBlanks()
	}
}

func (r *reader) skipBlanks() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// end reads white space and returns an error unless the text ends.
func (r *reader) end() error {
	r.blanks()
	if r.at != len(r.text) {
		return r.fail(reasonTrailing)
	}
	return nil
}

// expect reads the byte c.
func (r *reader) expect(c byte) error {
	if r.at == len(r.text) {
		return r.fail(reasonEnd)
	}
	if r.text[r.at] != c {
		return r.fail(reasonCharacter)
	}
	r.at++
	return nil
}

// skip reads a value and discards it.
func (r *reader) skip(depth int) error {
	if r.at == len(r.text) {
		return r.fail(reasonEnd)
	}
	switch r.text[r.at] {
	case '{':
		return r.object(depth, func(string) error { return r.skip(depth + 1) })
	case '[':
		return r.array(depth, func() error { return r.skip(depth + 1) })
	case '"':
		_, err := r.scanString()
		return err
	case 't':
		return r.word("true")
	case 'f':
		return r.word("false")
	case 'n':
		return r.word("null")
	default:
		return r.number()
	}
}

func (r *reader) word(w string) error {
	if !strings.HasPrefix(r.text[r.at:], w) {
		return r.fail(reasonCharacter)
	}
	r.at += len(w)
	return nil
}

// object reads an object at nesting depth. It calls member with each name; member reads the value.
func (r *reader) object(depth int, member func(name string) error) error {
	if depth > MaxDepth {
		return r.fail(reasonDepth)
	}
	r.at++
	r.blanks()
	if r.at < len(r.text) && r.text[r.at] == '}' {
		r.at++
		return nil
	}
	var names nameSet
	for {
		name, err := r.str()
		if err != nil {
			return err
		}
		if reason := names.add(name); reason != "" {
			return r.fail(reason)
		}
		r.blanks()
		if err := r.expect(':'); err != nil {
			return err
		}
		r.blanks()
		if err := member(name); err != nil {
			return err
		}
		if more, err := r.next('}'); err != nil || !more {
			return err
		}
	}
}

// array reads an array at nesting depth. It calls element, which reads one element.
func (r *reader) array(depth int, element func() error) error {
	if depth > MaxDepth {
		return r.fail(reasonDepth)
	}
	r.at++
	r.blanks()
	if r.at < len(r.text) && r.text[r.at] == ']' {
		r.at++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if more, err := r.next(']'); err != nil || !more {
			return err
		}
	}
}

// next reads the comma before another element, or the closing bracket.
func (r *reader) next(closing byte) (more bool, err error) {
	r.blanks()
	if r.at < len(r.text) && r.text[r.at] == closing {
		r.at++
		return false, nil
	}
	if err := r.expect(','); err != nil {
		return false, err
	}
	r.blanks()
	return true, nil
}

// str reads a string. A string without escapes refers to the text.
func (r *reader) str() (string, error) {
	start := r.at + 1
	escaped, err := r.scanString()
	if err != nil {
		return "", err
	}
	s := r.text[start : r.at-1]
	if escaped {
		s = unescape(s)
	}
	return s, nil
}

// scanString reads a string and reports whether it has escapes.
func (r *reader) scanString() (escaped bool, err error) {
	if err := r.expect('"'); err != nil {
		return false, err
	}
	start, ascii := r.at, true
	for {
		r.at += plainRun(r.text[r.at:])
		if r.at == len(r.text) {
			return false, r.fail(reasonEnd)
		}
		switch c := r.text[r.at]; {
		case c == '"':
			if !ascii && !utf8.ValidString(r.text[start:r.at]) {
				return false, r.fail(reasonUTF8)
			}
			r.at++
			return escaped, nil
		case c == '\\':
			escaped = true
			if err := r.escape(); err != nil {
				return false, err
			}
		case c < ' ':
			return false, r.fail(reasonControl)
		default:
			ascii = false
			r.at++
		}
	}
}

// plainRun returns the number of characters at the start of s that need no special handling in a string.
func plainRun(s string) int {
	for i := range len(s) {
		if !plain[s[i]] {
			return i
		}
	}
	return len(s)
}

// plain are the ASCII characters that need no special handling in a string.
var plain = func() (table [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// escape reads an escape sequence. A high surrogate must be followed immediately by a low one (RFC 8259 section 7).
func (r *reader) escape() error {
	rest := r.text[r.at+1:]
	if rest == "" {
		r.at++
		return r.fail(reasonEnd)
	}
	if rest[0] != 'u' {
		if plainEscape(rest[0]) == 0 {
			return r.fail(reasonEscape)
		}
		r.at += 2
		return nil
	}
	unit, ok := hex4(rest[1:])
	if !ok {
		return r.fail(reasonEscape)
	}
	if !utf16.IsSurrogate(unit) {
		r.at += 6
		return nil
	}
	if len(rest) < 11 || rest[5] != '\\' || rest[6] != 'u' {
		return r.fail(reasonSurrogate)
	}
	low, ok := hex4(rest[7:])
	if !ok || utf16.DecodeRune(unit, low) == utf8.RuneError {
		return r.fail(reasonSurrogate)
	}
	r.at += 12
	return nil
}

// unescape replaces the escape sequences of a valid string.
func unescape(s string) string {
	out := make([]byte, 0, len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			return string(append(out, s...))
		}
		out = append(out, s[:i]...)
		if s[i+1] != 'u' {
			out = append(out, plainEscape(s[i+1]))
			s = s[i+2:]
			continue
		}
		unit, _ := hex4(s[i+2:])
		s = s[i+6:]
		if utf16.IsSurrogate(unit) {
			low, _ := hex4(s[2:])
			unit = utf16.DecodeRune(unit, low)
			s = s[6:]
		}
		out = utf8.AppendRune(out, unit)
	}
}

// plainEscape returns the byte for the escape sequence \c, or 0 if c is not one of the eight characters.
func plainEscape(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return 0
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var n rune
	for i := range 4 {
		c := s[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		n = n<<4 | rune(c)
	}
	return n, true
}

// number reads a number (RFC 8259 section 6). The caller checks the text after it.
func (r *reader) number() error {
	end, ok := scanNumber(r.text[r.at:])
	if !ok {
		if end == 0 {
			return r.fail(reasonCharacter)
		}
		r.at += end
		return r.fail(reasonNumber)
	}
	r.at += end
	return nil
}
