// Package exactjson parses untrusted JSON (RFC 8259) strictly, so that a text has exactly one meaning.
//
// If two parsers read a document differently, one layer may check one user while the next signs in another. So
// everything that parsers are known to read differently is an error here, at every depth: a repeated name in an object
// (compared after unescaping), bytes that are not UTF-8, a lone surrogate, text after the value, a byte order mark.
// Names are case-sensitive, unlike struct fields in encoding/json. Numbers stay text until a caller converts them, so
// that none is rounded.
//
// Nesting is limited to [MaxDepth], and an object to [MaxMembers]; the caller must limit the size of the text. All
// functions are safe for concurrent use. Errors contain a reason and an offset and never the text, which may be secret.
package exactjson

import (
	"encoding/json"
	"strconv"
)

// Error describes why a text is invalid. It does not contain any part of the text.
type Error struct {
	// Reason is a fixed phrase.
	Reason string
	// Offset is the number of bytes before the error.
	Offset int
}

// Error returns reason and offset.
func (e *Error) Error() string {
	return "exactjson: " + e.Reason + " at byte " + strconv.Itoa(e.Offset)
}

const (
	reasonEnd       = "unexpected end"
	reasonCharacter = "unexpected character"
	reasonTrailing  = "text after the value"
	reasonNoObject  = "no object"
	reasonControl   = "control character in a string"
	reasonEscape    = "unknown escape"
	reasonUTF8      = "invalid UTF-8"
	reasonSurrogate = "lone surrogate"
	reasonNumber    = "malformed number"
	reasonDuplicate = "name used twice"
	reasonDepth     = "nested too deeply"
	reasonMembers   = "too many members"
)

// fewNames is the maximum number of names that are compared one by one. Most objects have no more. With a map from the
// first name on, the session check with facts takes 13 allocations instead of 8, more than its limit of 12.
const fewNames = 16

// nameSet contains the names of one object. The zero value is empty and does not allocate for the first fewNames.
type nameSet struct {
	few  [fewNames]string
	many map[string]struct{}
	n    int
}

// add adds a name. It returns a reason if the object may not have it, else "".
func (s *nameSet) add(name string) (reason string) {
	if s.n == MaxMembers {
		return reasonMembers
	}
	if s.n < fewNames {
		for _, other := range s.few[:s.n] {
			if other == name {
				return reasonDuplicate
			}
		}
		s.few[s.n] = name
		s.n++
		return ""
	}
	if s.many == nil {
		s.many = make(map[string]struct{}, 4*fewNames)
		for _, other := range s.few {
			s.many[other] = struct{}{}
		}
	}
	if _, ok := s.many[name]; ok {
		return reasonDuplicate
	}
	s.many[name] = struct{}{}
	s.n++
	return ""
}

// MaxDepth is the maximum nesting depth of arrays and objects, including the outermost.
const MaxDepth = 64

// MaxMembers is the maximum number of members of one object.
const MaxMembers = 4096

// Object parses data, a JSON object with optional white space around it, and calls member for each of its members in
// order. name is unescaped; value is the valid JSON of the member, without white space around it.
//
// value is a slice of data: copy it if you keep it longer than data is unchanged. name does not change with data, but
// may refer to a copy of the whole text: use strings.Clone to keep it for long. data must not change during the call.
//
// An error of member ends the parsing and is returned unchanged; every other error is an [*Error]. member is called
// during parsing, so an error may follow: discard the members then.
func Object(data []byte, member func(name string, value []byte) error) error {
	return members(string(data), func(name string, start, end int) error { return member(name, data[start:end:end]) })
}

// ObjectText is [Object] for a string. Names and values refer to the string and keep it in memory.
func ObjectText(text string, member func(name, value string) error) error {
	return members(text, func(name string, start, end int) error { return member(name, text[start:end]) })
}

// ObjectSpans is [Object] for a string. It passes the start and end of each value.
func ObjectSpans(text string, member func(name string, start, end int) error) error {
	return members(text, member)
}

// ObjectParts is [Object] that passes each value twice: as part of a copy of the text, and as a slice of data.
func ObjectParts(data []byte, member func(name, text string, value []byte) error) error {
	text := string(data)
	return members(text, func(name string, start, end int) error {
		return member(name, text[start:end], data[start:end:end])
	})
}

func members(text string, member func(name string, start, end int) error) error {
	r := reader{text: text}
	r.blanks()
	if r.at == len(r.text) || r.text[r.at] != '{' {
		return r.fail(reasonNoObject)
	}
	err := r.object(1, func(name string) error {
		start := r.at
		if err := r.skip(2); err != nil {
			return err
		}
		return member(name, start, r.at)
	})
	if err != nil {
		return err
	}
	return r.end()
}

// Decode parses one JSON value: nil, bool, string, [json.Number], []any or map[string]any. Its strings share one copy
// of the text. Errors are of type [*Error].
func Decode(data []byte) (any, error) {
	r := reader{text: string(data)}
	r.blanks()
	v, err := r.value(1)
	if err != nil {
		return nil, err
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return v, nil
}

// DecodeObject is [Decode] for a text that must be an object.
func DecodeObject(data []byte) (map[string]any, error) {
	v, err := Decode(data)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, &Error{Reason: reasonNoObject}
	}
	return object, nil
}

func (r *reader) value(depth int) (any, error) {
	if r.at == len(r.text) {
		return nil, r.fail(reasonEnd)
	}
	switch c := r.text[r.at]; c {
	case '{':
		object := map[string]any{}
		err := r.object(depth, func(name string) error {
			v, err := r.value(depth + 1)
			object[name] = v
			return err
		})
		return object, err
	case '[':
		array := []any{}
		err := r.array(depth, func() error {
			v, err := r.value(depth + 1)
			array = append(array, v)
			return err
		})
		return array, err
	case '"':
		return r.str()
	case 't', 'f':
		return c == 't', r.skip(depth)
	case 'n':
		return nil, r.skip(depth)
	default:
		start := r.at
		err := r.number()
		return json.Number(r.text[start:r.at]), err
	}
}
