package core

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// Members are the further JSON members of a session, user, token or account: everything that has no field of its own. They
// are kept as raw JSON, so that what one side wrote comes back unchanged, numbers exact and unknown members included.
// A nil map is empty; Set makes it. Members are not safe for concurrent writes.
type Members map[string]json.RawMessage

// Set stores v as JSON under name, making the map when it is nil.
func (m *Members) Set(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("core: member %q: %w", name, err)
	}
	if *m == nil {
		*m = Members{}
	}
	(*m)[name] = raw
	return nil
}

// Text returns the member as text, "" when it is absent or no JSON string.
func (m Members) Text(name string) string {
	s, _ := exactjson.Text(m[name])
	return s
}

// Member decodes one member into T. ok is false when the member is absent, null or of another shape.
func Member[T any](m Members, name string) (value T, ok bool) {
	raw, there := m[name]
	if !there || exactjson.IsNull(raw) {
		return value, false
	}
	return value, json.Unmarshal(raw, &value) == nil
}

// Decode reads the members into a T of the application's own: a struct with json tags. Names are matched exactly: encoding/json
// alone would take a member "ROLE" for a field named role.
func Decode[T any](m Members) (value T, err error) {
	known := m
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Struct {
		known = Members{}
		for _, field := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if raw, there := m[or(name, field.Name)]; there {
				known[or(name, field.Name)] = raw
			}
		}
	}
	raw, err := json.Marshal(known)
	if err != nil {
		return value, fmt.Errorf("core: members: %w", err)
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		return value, fmt.Errorf("core: members: %w", err)
	}
	return value, nil
}

// Encode writes the fields of v, a struct with json tags, over the members of the same names; other members stay.
func Encode[T any](m *Members, v T) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("core: members: %w", err)
	}
	return exactjson.Object(raw, func(name string, value []byte) error {
		if *m == nil {
			*m = Members{}
		}
		(*m)[string([]byte(name))] = slices.Clone(value)
		return nil
	})
}

func (m *Members) keep(name string, raw []byte) {
	if *m == nil {
		*m = Members{}
	}
	(*m)[string([]byte(name))] = slices.Clone(raw)
}

// appendTo writes the members behind an object that has begun, leaving out the names that skip knows.
func (m Members) appendTo(dst []byte, skip func(string) bool) []byte {
	if len(m) == 0 {
		return dst
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if skip != nil && skip(name) {
			continue
		}
		dst = appendName(dst, name)
		dst = append(dst, m[name]...)
	}
	return dst
}

// appendName begins a member of the object in dst: a comma where one is needed, the quoted name and a colon.
func appendName(dst []byte, name string) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' {
		dst = append(dst, ',')
	}
	dst = appendJSONText(dst, name)
	return append(dst, ':')
}

func appendJSONText(dst []byte, s string) []byte { return exactjson.AppendText(dst, s) }

// appendField writes a text field: its value, null, or nothing at all.
func appendField(dst []byte, name, value string, null bool) []byte {
	switch {
	case value != "":
		return appendJSONText(appendName(dst, name), value)
	case null:
		return append(appendName(dst, name), "null"...)
	}
	return dst
}
