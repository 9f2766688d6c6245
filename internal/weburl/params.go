package weburl

import (
	"errors"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/internal/ascii"
)

// MaxFields is the maximum number of fields in a query or a form.
const MaxFields = 100

var (
	// ErrTooManyFields is returned for more than MaxFields fields.
	ErrTooManyFields = errors.New("weburl: more than 100 fields")
	// ErrEncoding is returned by ParseForm for an invalid escape sequence.
	ErrEncoding = errors.New("weburl: broken percent-encoding")
)

// Params are the fields of a query or a form in the order received. The zero value is empty. Params are read-only and
// safe for concurrent use.
type Params struct {
	fields []field
}

type field struct{ name, value string }

// Query parses the query of a raw request target like URLSearchParams: "+" is a space, a percent sign without an escape
// sequence is literal, and invalid UTF-8 becomes U+FFFD. Only "&" separates fields. The only error is ErrTooManyFields,
// for more than MaxFields fields.
func Query(target string) (Params, error) {
	_, _, query := SplitTarget(target)
	return parseFields(query, false)
}

// ParseForm parses a body of type application/x-www-form-urlencoded like Query, but returns ErrEncoding for invalid
// escape sequences, because no browser or library sends such a body.
func ParseForm(body string) (Params, error) {
	return parseFields(body, true)
}

func parseFields(s string, strict bool) (Params, error) {
	if s == "" {
		return Params{}, nil
	}
	n := strings.Count(s, "&") + 1
	fields := make([]field, 0, min(n, MaxFields))
	for s != "" {
		var piece string
		if piece, s, _ = strings.Cut(s, "&"); piece == "" {
			continue
		}
		if len(fields) == MaxFields {
			return Params{}, ErrTooManyFields
		}
		name, value, _ := strings.Cut(piece, "=")
		var f field
		var nameOK, valueOK bool
		f.name, nameOK = unescape(name)
		f.value, valueOK = unescape(value)
		if strict && (!nameOK || !valueOK) {
			return Params{}, ErrEncoding
		}
		fields = append(fields, f)
	}
	return Params{fields: fields}, nil
}

// unescape decodes a form-encoded text. ok is false if there was an invalid escape sequence. It does not allocate if
// there is nothing to decode.
func unescape(s string) (text string, ok bool) {
	ok = true
	if strings.IndexByte(s, '%') >= 0 || strings.IndexByte(s, '+') >= 0 {
		b := make([]byte, 0, len(s))
		for i := 0; i < len(s); i++ {
			switch c := s[i]; {
			case c == '+':
				b = append(b, ' ')
			case c == '%' && i+2 < len(s) && ascii.Unhex(s[i+1]) >= 0 && ascii.Unhex(s[i+2]) >= 0:
				b = append(b, byte(ascii.Unhex(s[i+1])<<4|ascii.Unhex(s[i+2])))
				i += 2
			default:
				ok = ok && c != '%'
				b = append(b, c)
			}
		}
		s = string(b)
	}
	if !utf8.ValidString(s) { // rare; the check is faster than ToValidUTF8
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s, ok
}

// Get returns the last value of a field, or "". Names are case-sensitive.
func (p Params) Get(name string) string {
	value, _ := p.Lookup(name)
	return value
}

// Lookup returns the last value of a field (docs/protocol.md §1.3), and whether the field exists.
func (p Params) Lookup(name string) (value string, ok bool) {
	for i := len(p.fields) - 1; i >= 0; i-- {
		if p.fields[i].name == name {
			return p.fields[i].value, true
		}
	}
	return "", false
}

// Count returns the number of fields with this name. Protocol parameters must not be repeated (RFC 6749 section 3.1).
func (p Params) Count(name string) int {
	n := 0
	for _, f := range p.fields {
		if f.name == name {
			n++
		}
	}
	return n
}

// Fields returns an iterator over all fields in the order received, including repeated ones.
func (p Params) Fields() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, f := range p.fields {
			if !yield(f.name, f.value) {
				return
			}
		}
	}
}
