// Package exactjson reads JSON (RFC 8259) that an attacker may have written, with one meaning per text.
//
// Parsers that disagree about a document are how one layer checks one user and the next signs in another. So whatever
// parsers are known to disagree about is an error here, at every depth: a name that comes twice in an object (compared
// after unescaping), bytes that are not UTF-8, a lone surrogate, text behind the value, a byte order mark. Names are
// matched as written, never by folding case as encoding/json does with struct fields. Numbers stay text until a caller
// asks for a type, so that none is rounded on the way through.
//
// Nesting ends at [MaxDepth], members of one object at [MaxMembers]; the size of the text is the caller's to bound.
// Everything is a function of its arguments and safe for concurrent use. Errors tell a reason and an offset and never
// quote the text, which may be secret.
package exactjson

import (
	"encoding/json"
	"strconv"
)

// Error says why a text was refused. It carries nothing of the text itself.
type Error struct {
	// Reason is a fixed phrase.
	Reason string
	// Offset counts the bytes before the place where reading ended.
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

// fewNames is how many names are compared one by one before a map takes over: most objects have no more, and 16
// comparisons cost less than one map.
const fewNames = 16

// nameSet remembers the names of one object. The zero value is empty and needs no allocation for the first fewNames.
type nameSet struct {
	few  [fewNames]string
	many map[string]struct{}
	n    int
}

// add returns the reason why the object may not have name, "" when it may.
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

// MaxDepth is how deep arrays and objects may nest, the outermost included.
const MaxDepth = 64

// MaxMembers is how many members one object may have.
const MaxMembers = 4096

// Object reads data, one JSON object with nothing but blanks around it, and calls member for each of its members in the
// order written. name is unescaped; value is the valid JSON of the member, without blanks around it.
//
// value is a part of data and lives as long as data is left alone: copy what is kept. name does not change with data,
// but may be a part of one copy of the whole text: strings.Clone what is kept for long. data must not change during the
// call.
//
// What member returns ends the walk and is returned as it is; every other error is an [*Error]. Since members are
// handed out while reading, member may have been called before an error shows up further on: on an error, forget what
// it gathered.
func Object(data []byte, member func(name string, value []byte) error) error {
	return members(string(data), func(name string, start, end int) error { return member(name, data[start:end:end]) })
}

// ObjectText is [Object] over a text, whose parts it hands out: what is kept of them keeps the text.
func ObjectText(text string, member func(name, value string) error) error {
	return members(text, func(name string, start, end int) error { return member(name, text[start:end]) })
}

// ObjectSpans is [Object] over a text that hands out where each value begins and ends in it.
func ObjectSpans(text string, member func(name string, start, end int) error) error {
	return members(text, member)
}

// ObjectParts is [Object] that hands out each value twice: as a part of one copy of the text, which what is kept of it
// keeps, and as a part of data.
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

// Decode reads one JSON value: nil, bool, string, [json.Number], []any or map[string]any. Its strings share one copy of
// the text. Errors are of type [*Error].
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

// DecodeObject is [Decode] for a text that has to be an object.
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
