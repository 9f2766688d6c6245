package mongodb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// privateField is the field of a document for the store's own data: the revision of a user, and under "extra", as JSON
// text, the members that BSON would not return byte for byte.
const privateField = "latchkey"

// milliseconds converts a time to BSON, rounded down, so that nothing lasts longer than it should.
func milliseconds(t time.Time) bson.DateTime { return bson.DateTime(t.UnixMilli()) }

// text reads a text. If the field is null or missing, it is empty.
func text(doc bson.Raw, field string) (value string, null bool, err error) {
	v := doc.Lookup(field)
	switch v.Type {
	case bson.TypeString:
		return v.StringValue(), false, nil
	case bson.TypeNull, 0:
		return "", true, nil
	}
	return "", false, wrongType(field, v)
}

func wrongType(field string, v bson.RawValue) error {
	return fmt.Errorf("the field %s contains a %s", field, v.Type)
}

// moment reads a time. If the field is null or missing, it is zero.
func moment(doc bson.Raw, field string) (time.Time, error) {
	v := doc.Lookup(field)
	switch v.Type {
	case bson.TypeDateTime:
		return v.Time().UTC(), nil
	case bson.TypeNull, 0:
		return time.Time{}, nil
	}
	return time.Time{}, wrongType(field, v)
}

// whole reads an integer in any of the types that JavaScript may have written.
func whole(doc bson.Raw, field string) (int64, error) {
	v := doc.Lookup(field)
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64:
		return v.AsInt64(), nil
	case bson.TypeDouble:
		if f := v.Double(); f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), nil
		}
	case bson.TypeNull, 0:
		return 0, nil
	}
	return 0, wrongType(field, v)
}

// owner reads a user's ID.
func owner(doc bson.Raw, field string) (bson.ObjectID, error) {
	id, ok := doc.Lookup(field).ObjectIDOK()
	if !ok {
		return id, fmt.Errorf("the field %s is not an ObjectId", field)
	}
	return id, nil
}

// orNull converts an empty text to null.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// native converts a JSON value to BSON, if the database returns it byte for byte.
func native(raw json.RawMessage) (value any, ok bool) {
	value, ok = fromJSON(raw)
	if !ok {
		return nil, false
	}
	kind, data, err := bson.MarshalValue(value)
	if err != nil {
		return nil, false
	}
	again, err := toJSON(bson.RawValue{Type: kind, Value: data})
	return value, err == nil && bytes.Equal(again, raw)
}

func fromJSON(raw json.RawMessage) (any, bool) {
	switch trimmed := bytes.TrimSpace(raw); {
	case len(trimmed) == 0:
		return nil, false
	case trimmed[0] == '{':
		return documentFromJSON(trimmed)
	case trimmed[0] == '[':
		var list []json.RawMessage
		if json.Unmarshal(trimmed, &list) != nil {
			return nil, false
		}
		values := bson.A{}
		for _, item := range list {
			v, ok := fromJSON(item)
			if _, nested := v.(bson.A); !ok || nested { // FerretDB does not support nested lists
				return nil, false
			}
			values = append(values, v)
		}
		return values, true
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return nil, false
	}
	n, ok := value.(json.Number)
	if !ok {
		return value, true
	}
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		if i == int64(int32(i)) { //nolint:gosec // the comparison checks the range
			return int32(i), true //nolint:gosec // it fits
		}
		return i, true
	}
	f, err := n.Float64()
	return f, err == nil
}

// documentFromJSON decodes an object and preserves the order of its members, which encoding/json does not.
func documentFromJSON(raw []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	document := bson.D{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		var member json.RawMessage
		if d.Decode(&member) != nil {
			return nil, false
		}
		value, ok := fromJSON(member)
		key, _ := name.(string)
		if !ok || !fieldName(key) || slices.ContainsFunc(document, func(e bson.E) bool { return e.Key == key }) {
			return nil, false
		}
		document = append(document, bson.E{Key: key, Value: value})
	}
	return document, true
}

// fieldName reports whether every database allows this field name.
func fieldName(name string) bool {
	return name != "" && name[0] != '$' && !strings.ContainsAny(name, ".\x00") && possible(name)
}

// toJSON encodes a BSON value as JSON like JavaScript does.
func toJSON(v bson.RawValue) (json.RawMessage, error) {
	switch v.Type {
	case bson.TypeString:
		return exactjson.Quote(v.StringValue()), nil
	case bson.TypeNull, bson.TypeUndefined:
		return json.RawMessage("null"), nil
	case bson.TypeBoolean:
		return strconv.AppendBool(nil, v.Boolean()), nil
	case bson.TypeInt32, bson.TypeInt64:
		return strconv.AppendInt(nil, v.AsInt64(), 10), nil
	case bson.TypeDouble:
		return json.Marshal(v.Double())
	case bson.TypeDateTime:
		return exactjson.Quote(v.Time().UTC().Format("2006-01-02T15:04:05.000Z")), nil
	case bson.TypeObjectID:
		return exactjson.Quote(v.ObjectID().Hex()), nil
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return compoundToJSON(v)
	}
	// Types without a JSON equivalent are written as in MongoDB's Extended JSON.
	extended, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, false, false)
	if err != nil {
		return nil, err
	}
	var in struct {
		V json.RawMessage `json:"v"`
	}
	err = json.Unmarshal(extended, &in)
	return in.V, err
}

func compoundToJSON(v bson.RawValue) (json.RawMessage, error) {
	list := v.Type == bson.TypeArray
	elements, err := bson.Raw(v.Value).Elements()
	if err != nil {
		return nil, err
	}
	out := []byte{'{'}
	if list {
		out[0] = '['
	}
	for i, e := range elements {
		if i > 0 {
			out = append(out, ',')
		}
		if !list {
			out = append(append(out, exactjson.Quote(e.Key())...), ':')
		}
		value, err := toJSON(e.Value())
		if err != nil {
			return nil, err
		}
		out = append(out, value...)
	}
	if list {
		return append(out, ']'), nil
	}
	return append(out, '}'), nil
}

// fields splits members into fields of a document and a JSON text of the others: reserved names, and values that the
// database would change.
func fields(members store.Members, reserved []string) (natives bson.D, extra string, err error) {
	rest := store.Members{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		raw := members[name]
		if !json.Valid(raw) {
			return nil, "", errors.New("a further member is not valid JSON")
		}
		if err := storable(name, string(raw)); err != nil {
			return nil, "", err
		}
		value, ok := native(raw)
		if !ok || !fieldName(name) || slices.Contains(reserved, name) {
			rest[name] = raw
			continue
		}
		natives = append(natives, bson.E{Key: name, Value: value})
	}
	if len(rest) > 0 {
		extra = string(append(exactjson.AppendMembers([]byte{'{'}, rest, nil), '}'))
	}
	return natives, extra, nil
}

// members reads the members that fields has stored, and other fields that another program has added.
func members(doc bson.Raw, reserved []string) (store.Members, error) {
	elements, err := doc.Elements()
	if err != nil {
		return nil, err
	}
	m := store.Members{}
	for _, e := range elements {
		name := e.Key()
		if name == privateField || slices.Contains(reserved, name) {
			continue
		}
		if m[name], err = toJSON(e.Value()); err != nil {
			return nil, fmt.Errorf("the field %s: %w", name, err)
		}
	}
	extra, err := extraOf(doc)
	if err != nil {
		return nil, err
	}
	maps.Copy(m, extra)
	if len(m) == 0 {
		return nil, nil
	}
	return m, nil
}

func extraOf(doc bson.Raw) (m store.Members, err error) {
	if v, ok := doc.Lookup(privateField, "extra").StringValueOK(); ok {
		if err := json.Unmarshal([]byte(v), &m); err != nil {
			return nil, errors.New("the field " + privateField + ".extra is not a JSON object")
		}
	}
	return m, nil
}
