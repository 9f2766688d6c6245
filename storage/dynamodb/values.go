package dynamodb

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// text reads a text. If the attribute is null or missing, it is empty.
func text(of item, name string) (value string, null bool, err error) {
	switch v := of[name].(type) {
	case *types.AttributeValueMemberS:
		return v.Value, false, nil
	case *types.AttributeValueMemberNULL, nil:
		return "", true, nil
	}
	return "", false, fmt.Errorf("the attribute %s contains no text", name)
}

// orNone sets an attribute unless its text is empty.
func orNone(of item, name, value string) {
	if value != "" {
		of[name] = str(value)
	}
}

// seconds converts an expiry to seconds, as Auth.js and DynamoDB's time to live expect. Fractions are rounded down to
// the millisecond, so that nothing lasts longer than it should.
func seconds(t time.Time) types.AttributeValue {
	n := t.UnixMilli()
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	if n%1000 == 0 {
		return num(sign + strconv.FormatInt(n/1000, 10))
	}
	return num(fmt.Sprintf("%s%d.%03d", sign, n/1000, n%1000))
}

func fromSeconds(of item, name string) (time.Time, error) {
	v, ok := of[name].(*types.AttributeValueMemberN)
	if !ok {
		return time.Time{}, fmt.Errorf("the attribute %s contains no number", name)
	}
	f, err := strconv.ParseFloat(v.Value, 64)
	if err != nil || math.Abs(f) > 1e12 {
		return time.Time{}, fmt.Errorf("the attribute %s is not a time in seconds", name)
	}
	return time.UnixMilli(int64(math.Round(f * 1000))).UTC(), nil
}

// whole reads an integer. If the attribute is missing, it is 0.
func whole(of item, name string) (int64, error) {
	v, ok := of[name].(*types.AttributeValueMemberN)
	if !ok {
		if _, null := of[name].(*types.AttributeValueMemberNULL); null || of[name] == nil {
			return 0, nil
		}
		return 0, fmt.Errorf("the attribute %s contains no number", name)
	}
	f, err := strconv.ParseFloat(v.Value, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, fmt.Errorf("the attribute %s contains no integer", name)
	}
	return int64(f), nil
}

// deepest is the maximum nesting of lists and maps. DynamoDB allows 32 levels, and a copy needs one of them.
const deepest = 24

// native converts a JSON value to an attribute, if DynamoDB returns it byte for byte.
func native(raw json.RawMessage) (types.AttributeValue, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return nil, false
	}
	v, ok := attribute(value, deepest)
	if !ok {
		return nil, false
	}
	again, err := toJSON(v)
	return v, err == nil && bytes.Equal(again, raw)
}

func attribute(value any, levels int) (types.AttributeValue, bool) {
	if levels == 0 {
		return nil, false
	}
	switch v := value.(type) {
	case nil:
		return &types.AttributeValueMemberNULL{Value: true}, true
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}, true
	case string:
		return str(v), true
	case json.Number:
		return number(v.String())
	case []any:
		list := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
		for _, member := range v {
			a, ok := attribute(member, levels-1)
			if !ok {
				return nil, false
			}
			list.Value = append(list.Value, a)
		}
		return list, true
	case map[string]any:
		m := &types.AttributeValueMemberM{Value: item{}}
		for name, member := range v {
			a, ok := attribute(member, levels-1)
			if !ok || name == "" {
				return nil, false
			}
			m.Value[name] = a
		}
		return m, true
	}
	return nil, false
}

// number converts a number that DynamoDB does not normalize to another text.
func number(text string) (types.AttributeValue, bool) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(i, 10) == text {
		return num(text), true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) < 1e-6 || math.Abs(f) > 1e15 || strconv.FormatFloat(f, 'f', -1, 64) != text {
		return nil, false
	}
	return num(text), true
}

// toJSON encodes an attribute as JSON like JavaScript does.
func toJSON(value types.AttributeValue) (json.RawMessage, error) {
	switch v := value.(type) {
	case *types.AttributeValueMemberNULL:
		return json.RawMessage("null"), nil
	case *types.AttributeValueMemberBOOL:
		return strconv.AppendBool(nil, v.Value), nil
	case *types.AttributeValueMemberS:
		return exactjson.Quote(v.Value), nil
	case *types.AttributeValueMemberN:
		if !json.Valid([]byte(v.Value)) {
			return exactjson.Quote(v.Value), nil
		}
		return json.RawMessage(v.Value), nil
	case *types.AttributeValueMemberB:
		return exactjson.Quote(base64.StdEncoding.EncodeToString(v.Value)), nil
	case *types.AttributeValueMemberL:
		return listToJSON(v.Value, toJSON)
	case *types.AttributeValueMemberSS:
		return listToJSON(v.Value, func(s string) (json.RawMessage, error) { return exactjson.Quote(s), nil })
	case *types.AttributeValueMemberNS:
		return listToJSON(v.Value, func(s string) (json.RawMessage, error) { return toJSON(num(s)) })
	case *types.AttributeValueMemberBS:
		return listToJSON(v.Value, func(b []byte) (json.RawMessage, error) {
			return toJSON(&types.AttributeValueMemberB{Value: b})
		})
	case *types.AttributeValueMemberM:
		out := []byte{'{'}
		for i, name := range slices.Sorted(maps.Keys(v.Value)) {
			if i > 0 {
				out = append(out, ',')
			}
			member, err := toJSON(v.Value[name])
			if err != nil {
				return nil, err
			}
			out = append(append(append(out, exactjson.Quote(name)...), ':'), member...)
		}
		return append(out, '}'), nil
	}
	return nil, fmt.Errorf("an attribute is a %T", value)
}

func listToJSON[T any](list []T, one func(T) (json.RawMessage, error)) (json.RawMessage, error) {
	out := []byte{'['}
	for i, member := range list {
		if i > 0 {
			out = append(out, ',')
		}
		raw, err := one(member)
		if err != nil {
			return nil, err
		}
		out = append(out, raw...)
	}
	return append(out, ']'), nil
}

// reserved reports whether an attribute cannot be a member of Extra.
func (s *Store) reserved(name string, names []string) bool {
	l := s.layout
	return name == "" || slices.Contains(names, name) ||
		slices.Contains([]string{
			l.PartitionKey, l.SortKey, l.IndexPartitionKey, l.IndexSortKey, "id",
			nonceName, extraName, revisionName, changeName, nextName, copyName, copiedName, untilName,
		}, name)
}

// write adds members to an item. Members that DynamoDB returns byte for byte become attributes, and the others are
// stored as JSON text. An attribute of before with an equivalent value stays unchanged.
func (s *Store) write(of item, m store.Members, names []string, before item) error {
	rest := store.Members{}
	for name, raw := range m {
		if !json.Valid(raw) {
			return errors.New("a further member is not valid JSON")
		}
		if err := storable(name, string(raw)); err != nil {
			return err
		}
		if s.reserved(name, names) {
			rest[name] = raw
			continue
		}
		if there, ok := before[name]; ok {
			if same, err := toJSON(there); err == nil && bytes.Equal(same, raw) {
				of[name] = there
				continue
			}
		}
		if v, ok := native(raw); ok {
			of[name] = v
			continue
		}
		rest[name] = raw
	}
	if len(rest) > 0 {
		of[extraName] = str(string(append(exactjson.AppendMembers([]byte{'{'}, rest, nil), '}')))
	}
	return nil
}

// members reads the members that write has stored, and other attributes that another program has added.
func (s *Store) members(of item, names []string) (store.Members, error) {
	m := store.Members{}
	for name, value := range of {
		if s.reserved(name, names) {
			continue
		}
		raw, err := toJSON(value)
		if err != nil {
			return nil, err
		}
		m[name] = raw
	}
	if extra := plain(of, extraName); extra != "" {
		var more store.Members
		if err := json.Unmarshal([]byte(extra), &more); err != nil {
			return nil, errors.New("the attribute " + extraName + " is not a JSON object")
		}
		maps.Copy(m, more)
	}
	if len(m) == 0 {
		return nil, nil
	}
	return m, nil
}
