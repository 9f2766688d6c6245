package exactjson

import "encoding/json"

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
