package sqlstore

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// orNull converts an empty text to null.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// emptyOrNull converts an empty text to null if the bit is set in nulls. The empty text and null stay distinct.
func emptyOrNull(text string, nulls, bit store.Nulls) any {
	if text == "" && nulls&bit != 0 {
		return nil
	}
	return text
}

// text scans a text or null.
type text struct {
	value string
	null  bool
}

// Scan implements [database/sql.Scanner].
func (t *text) Scan(value any) error {
	*t = text{}
	switch v := value.(type) {
	case nil:
		t.null = true
	case string:
		t.value = v
	case []byte:
		t.value = string(v)
	case int64: // an ID that the database generated
		t.value = strconv.FormatInt(v, 10)
	case [16]byte: // a UUID from pgx
		t.value = uuid(v)
	default:
		return fmt.Errorf("a text column contains a %T", value)
	}
	return nil
}

// ScanText is Scan for the bytes of a text from a driver; nil is null. It copies them.
func (t *text) ScanText(received []byte) { *t = text{value: string(received), null: received == nil} }

// noID is an ID that no user can have, because the column cannot represent it.
type noID struct{}

// id converts a user's ID to a column value.
func (e *engine) id(id string) any {
	switch e.layout.IDs {
	case IntegerIDs:
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != id {
			return noID{}
		}
		return n
	case UUIDs:
		if !isUUID(id) {
			return noID{}
		}
	}
	return id
}

// isUUID accepts only the form that databases return: lower case, five groups.
func isUUID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, c := range []byte(id) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		if dash && c != '-' || !dash && !hex {
			return false
		}
	}
	return true
}

func uuid(b [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// recordID returns a random ID for a column that is never read.
func recordID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return uuid(b)
}

// withRecordID appends an ID to the values of a row if its table needs one.
func (e *engine) withRecordID(table string, args []any) []any {
	if e.layout.recordID(table) {
		args = append(args, recordID())
	}
	return args
}

// memberArgs returns the values of further members: those with their own column, then the rest as JSON.
func memberArgs(m store.Members, columns []string) ([]any, error) {
	rest := maps.Clone(m)
	var args []any
	for _, name := range columns {
		arg, err := memberArg(name, m[name])
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
		delete(rest, name)
	}
	extra, err := encodeMembers(rest)
	return append(args, extra), err
}

// memberArg converts a JSON value to a column value.
func memberArg(name string, raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil || !json.Valid(raw) {
		return nil, fmt.Errorf("the further member %q is not valid JSON", name)
	}
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		return v.String(), nil
	case map[string]any, []any:
		return string(raw), nil
	default:
		return v, nil
	}
}

type memberColumns struct {
	names  []string
	values []memberColumn
	extra  text
}

// memberColumn scans a value of any type.
type memberColumn struct{ value any }

// Scan implements [database/sql.Scanner].
func (c *memberColumn) Scan(value any) error {
	if bytes, ok := value.([]byte); ok { // the driver reuses these bytes
		value = string(bytes)
	}
	c.value = value
	return nil
}

func membersOf(names []string) memberColumns {
	c := memberColumns{names: names}
	if len(names) > 0 {
		c.values = make([]memberColumn, len(names))
	}
	return c
}

// into appends the scan destinations of the columns.
func (c *memberColumns) into(list []any) []any {
	for i := range c.values {
		list = append(list, &c.values[i])
	}
	return append(list, &c.extra)
}

func (c *memberColumns) members() (store.Members, error) {
	m, err := decodeMembers(c.extra)
	if err != nil {
		return nil, err
	}
	for i, name := range c.names {
		value := c.values[i].value
		if at, ok := value.(time.Time); ok {
			value = at.UTC()
		}
		if err := m.Set(name, value); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// encodeMembers writes members as one JSON object. Values stay byte-exact; encoding/json would escape and compact them.
func encodeMembers(m store.Members) (any, error) {
	if len(m) == 0 {
		return nil, nil
	}
	out := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if !json.Valid(m[name]) {
			return nil, fmt.Errorf("the further member %q is not valid JSON", name)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, exactjson.Quote(name)...), ':'), m[name]...)
	}
	return string(append(out, '}')), nil
}

func decodeMembers(column text) (store.Members, error) {
	if column.value == "" {
		return nil, nil
	}
	var m store.Members
	if err := json.Unmarshal([]byte(column.value), &m); err != nil {
		return nil, fmt.Errorf("the column extra is not a JSON object: %w", err)
	}
	if len(m) == 0 {
		return nil, nil
	}
	return m, nil
}

// encodeJSON converts a JSON value to a column in which Auth.js stores a text. A string is stored without quotes if it
// is not itself valid JSON and can be decoded byte for byte. Any other value is stored as JSON.
func encodeJSON(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if !json.Valid(raw) {
		return nil, fmt.Errorf("session_state or authorization_details is not valid JSON")
	}
	var plain string
	if raw[0] == '"' && json.Unmarshal(raw, &plain) == nil && plain != "" &&
		!json.Valid([]byte(plain)) && bytes.Equal(exactjson.Quote(plain), raw) &&
		!strings.ContainsRune(plain, 0) {
		return plain, nil
	}
	return string(raw), nil
}

func decodeJSON(column text) json.RawMessage {
	switch {
	case column.value == "":
		return nil
	case json.Valid([]byte(column.value)):
		return json.RawMessage(column.value)
	}
	return exactjson.Quote(column.value)
}

// storedMembers returns members as a later read will return them.
func storedMembers(m store.Members, columns []string) store.Members {
	var c store.Members
	set := func(name string, raw json.RawMessage) {
		if c == nil {
			c = store.Members{}
		}
		c[name] = raw
	}
	for name, raw := range m {
		set(name, slices.Clone(raw))
	}
	for _, name := range columns {
		if len(m[name]) == 0 {
			set(name, json.RawMessage("null"))
		}
	}
	return c
}

var (
	_ sql.Scanner = (*text)(nil)
	_ sql.Scanner = (*memberColumn)(nil)
)
