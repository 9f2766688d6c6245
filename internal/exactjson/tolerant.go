package exactjson

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Tolerant calls read with data, a JSON object from a service whose strings may be malformed in unimportant places: a
// truncated emoji, a Latin-1 name, a raw line break, or a byte order mark at the start. If read fails because of such a
// string, Tolerant repairs data and calls read again; read must discard the results of the first call.
//
// Lone surrogates and bytes that are not UTF-8 become U+FFFD, as in encoding/json; raw control characters become escape
// sequences. If strict returns true for a member of the object, the member and everything inside it is never repaired,
// because two different malformed strings would become equal. All other rules of this package apply to the repaired
// text.
func Tolerant(data []byte, strict func(name string) bool, read func(data []byte) error) error {
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	err := read(data)
	if e, ok := errors.AsType[*Error](err); !ok || !e.repairable() {
		return err
	}
	repaired, err := repair(data, strict)
	if err != nil {
		return err
	}
	return read(repaired)
}

// DecodeObjectTolerant is [DecodeObject] with [Tolerant].
func DecodeObjectTolerant(data []byte, strict func(name string) bool) (object map[string]any, err error) {
	err = Tolerant(data, strict, func(data []byte) (err error) {
		object, err = DecodeObject(data)
		return err
	})
	return object, err
}

// IsClean reports whether s is UTF-8 without control characters and without U+FFFD, which replaces malformed text.
func IsClean(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || r == utf8.RuneError
	})
}

const byteOrderMark = "\ufeff"

// repairable reports whether the error is about the characters of a string, not about the structure.
func (e *Error) repairable() bool {
	switch e.Reason {
	case reasonControl, reasonUTF8, reasonSurrogate:
		return true
	}
	return false
}

// repairer copies a JSON text and repairs its strings. It parses only enough structure to know which member of the
// outermost object contains a string; the result must still be parsed.
type repairer struct {
	data   []byte
	at     int
	out    []byte
	depth  int
	inName bool // the next string of the outermost object is a name
	strict bool // the current member must not be repaired
}

func repair(data []byte, strict func(name string) bool) ([]byte, error) {
	r := &repairer{data: data, out: make([]byte, 0, len(data)+64)}
	for r.at < len(r.data) {
		c := r.data[r.at]
		switch c {
		case '{', '[':
			r.depth++
			r.inName = r.depth == 1
		case '}', ']':
			r.depth--
		case ':', ',':
			if r.depth == 1 {
				r.inName = c == ','
			}
		case '"':
			if err := r.text(strict); err != nil {
				return nil, err
			}
			continue
		}
		r.out = append(r.out, c)
		r.at++
	}
	return r.out, nil
}

// text copies a string. If it is the name of a member, the member becomes the current one.
func (r *repairer) text(strict func(name string) bool) error {
	start, written := r.at, len(r.out)
	reason := r.copyString()
	if r.depth == 1 && r.inName {
		name, ok := Text(r.out[written:])
		r.strict = ok && strict(name)
		return nil
	}
	if reason != "" && r.strict {
		return &Error{Reason: reason, Offset: start}
	}
	return nil
}

// copyString copies and repairs a string with its quotes. It returns the reason for the repair, or "" if the string was
// well-formed.
func (r *repairer) copyString() (reason string) {
	r.out = append(r.out, '"')
	for r.at++; r.at < len(r.data); {
		switch c := r.data[r.at]; {
		case c == '"':
			r.out = append(r.out, '"')
			r.at++
			return reason
		case c == '\\':
			if !r.copyEscape() {
				reason = reasonSurrogate
			}
		case c < ' ':
			r.out = fmt.Appendf(r.out, `\u%04x`, c)
			r.at++
			reason = reasonControl
		default:
			char, size := utf8.DecodeRune(r.data[r.at:])
			if char == utf8.RuneError && size == 1 {
				reason = reasonUTF8
			}
			r.out = utf8.AppendRune(r.out, char)
			r.at += size
		}
	}
	return reason
}

// copyEscape copies an escape sequence, or a surrogate pair. It returns false for a lone surrogate. Unknown escape
// sequences are copied unchanged, because the reader rejects them.
func (r *repairer) copyEscape() bool {
	rest := string(r.data[r.at:min(len(r.data), r.at+12)])
	unit, isUnit := rune(0), false
	if strings.HasPrefix(rest, `\u`) {
		unit, isUnit = hex4(rest[2:])
	}
	n := min(2, len(rest))
	if isUnit {
		n = 6
	}
	if isUnit && utf16.IsSurrogate(unit) {
		low, ok := rune(0), false
		if strings.HasPrefix(rest[6:], `\u`) {
			low, ok = hex4(rest[8:])
		}
		if !ok || utf16.DecodeRune(unit, low) == utf8.RuneError {
			r.out = append(r.out, "\ufffd"...)
			r.at += 6
			return false
		}
		n = 12
	}
	r.out = append(r.out, rest[:n]...)
	r.at += n
	return true
}
