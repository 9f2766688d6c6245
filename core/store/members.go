package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// Members are the further JSON members of a session, user, token or account: everything that has no field of its own.
// They are kept as raw JSON, so that what one side wrote comes back unchanged, numbers exact and unknown members
// included. A nil map is empty; Set and Merge make it. Members are not safe for concurrent writes.
type Members map[string]json.RawMessage

// Set stores v as JSON under name, making the map when it is nil.
func (m *Members) Set(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("store: member %q: %w", name, err)
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

// Get decodes one member into what into points to. It reports false, and leaves into alone, when the member is absent,
// null or of another shape.
func (m Members) Get(name string, into any) bool {
	raw, there := m[name]
	target := reflect.ValueOf(into)
	if !there || exactjson.IsNull(raw) || target.Kind() != reflect.Pointer || target.IsNil() {
		return false
	}
	value := reflect.New(target.Type().Elem())
	if json.Unmarshal(raw, value.Interface()) != nil {
		return false
	}
	target.Elem().Set(value.Elem())
	return true
}

// Decode reads the members into what into points to: a struct of the application's own, with json tags. Names are
// matched exactly: encoding/json alone would take a member "ROLE" for a field named role. Fields without a member stay
// as they are.
func (m Members) Decode(into any) error {
	target := reflect.TypeOf(into)
	if target == nil || target.Kind() != reflect.Pointer {
		return errors.New("store: members: Decode needs a pointer")
	}
	known := m
	if t := target.Elem(); t.Kind() == reflect.Struct {
		known = Members{}
		for _, field := range reflect.VisibleFields(t) {
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			name := cmp.Or(tag, field.Name)
			if raw, there := m[name]; there {
				known[name] = raw
			}
		}
	}
	raw, err := json.Marshal(known)
	if err != nil {
		return fmt.Errorf("store: members: %w", err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("store: members: %w", err)
	}
	return nil
}

// Merge writes the fields of v, a struct with json tags, over the members of the same names, making the map when it is
// nil; other members stay.
func (m *Members) Merge(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("store: members: %w", err)
	}
	return exactjson.Object(raw, func(name string, value []byte) error {
		exactjson.Keep(m, name, value)
		return nil
	})
}
