package weburl

import (
	"errors"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core/internal/ascii"
)

// MaxFields is the number of fields that a query or a form may have.
const MaxFields = 100

var (
	// ErrTooManyFields is returned for more than MaxFields fields.
	ErrTooManyFields = errors.New("weburl: more than 100 fields")
	// ErrEncoding is returned by ParseForm for a percent sign that starts no escape.
	ErrEncoding = errors.New("weburl: broken percent-encoding")
)

// Params are the fields of a query or a form in the order received. The zero value has none. Params are read-only and
// safe for concurrent use.
type Params struct {
	fields []field
}

type field struct{ name, value string }

// Query reads the query of a raw request target the way URLSearchParams does: "+" is a blank, a percent sign that
// starts no escape stands for itself, and bytes that are no UTF-8 become U+FFFD. Only "&" separates fields. More than
// MaxFields fields are ErrTooManyFields, the only error.
func Query(target string) (Params, error) {
	_, _, query := SplitTarget(target)
	return parseFields(query, false)
}

// ParseForm reads a body of type application/x-www-form-urlencoded as Query reads a query, but refuses broken
// percent-encoding with ErrEncoding: no browser and no library writes such a body.
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

// unescape decodes a form-encoded text; ok is false when a percent sign started no escape. It does not allocate when
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
	if !utf8.ValidString(s) { // hardly ever, and ToValidUTF8 takes longer to see that
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s, ok
}

// Get returns the last value of the field called name, whose letter case counts, or "".
func (p Params) Get(name string) string {
	value, _ := p.Lookup(name)
	return value
}

// Lookup returns the last value of the field called name, and whether there is one: of a repeated field the last counts
// (docs/protocol.md §1.3).
func (p Params) Lookup(name string) (value string, ok bool) {
	for i := len(p.fields) - 1; i >= 0; i-- {
		if p.fields[i].name == name {
			return p.fields[i].value, true
		}
	}
	return "", false
}

// Count returns how often the field called name occurs. Protocol parameters that occur twice are to be refused (RFC
// 6749 section 3.1).
func (p Params) Count(name string) int {
	n := 0
	for _, f := range p.fields {
		if f.name == name {
			n++
		}
	}
	return n
}

// Fields yields name and value of every field in the order received, repeated ones each time.
func (p Params) Fields() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, f := range p.fields {
			if !yield(f.name, f.value) {
				return
			}
		}
	}
}
