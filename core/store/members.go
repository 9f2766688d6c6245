package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// Members are additional JSON members of a session, user, token or account that have no struct field. They are raw
// JSON, so that values are preserved exactly, including numbers and unknown members. A nil map is empty; Set and Merge
// create the map. Members are not safe for concurrent writes.
type Members map[string]json.RawMessage

// Set stores v as JSON under name. It creates the map if it is nil.
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

// Text returns a string member. It returns "" if the member is absent or not a JSON string.
func (m Members) Text(name string) string {
	s, _ := exactjson.Text(m[name])
	return s
}

// Get decodes a member into the value that into points to. If the member is absent, null or of another type, Get
// returns false and does not change the value.
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

// Decode decodes the members into the value that into points to, usually a struct with json tags. Names are compared
// exactly: encoding/json alone would decode a member "ROLE" into a field named role. Fields without a member are not
// changed.
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

// Merge sets the members that the fields of v, a struct with json tags, encode to. Other members stay. It creates the
// map if it is nil.
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
