package exactjson_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

func TestDecimal(t *testing.T) {
	t.Parallel()
	for number, want := range map[json.Number]string{
		"12345678901234567891": "12345678901234567891", "1.5e3": "1500", "0.10": "0.1", "1e-3": "0.001", "-7": "-7",
		"1e9999": "1e9999", // it would have 10,000 digits
	} {
		if got := exactjson.Decimal(number); got != want {
			t.Errorf("%s is %q, want %q", number, got, want)
		}
	}
}

// TestTextIn: a number is text in decimal form, so that two ways to write an ID are equal.
func TestTextIn(t *testing.T) {
	t.Parallel()
	object := map[string]any{"text": "a", "id": json.Number("7.0e1"), "null": nil, "list": []any{"a"}}
	for name, want := range map[string]string{"text": "a", "id": "70", "null": "", "list": "", "missing": ""} {
		if got := exactjson.TextIn(object, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestCloneObject changes each part of a clone; the original stays.
func TestCloneObject(t *testing.T) {
	t.Parallel()
	type profile map[string]any
	original := func() profile {
		return profile{
			"text":   "a",
			"object": map[string]any{"b": "c"},
			"own":    profile{"d": "e"},
			"list":   []any{"f", []any{"g"}},
		}
	}
	before, clone := original(), exactjson.CloneObject(original())
	if !reflect.DeepEqual(clone, before) {
		t.Errorf("got %v", clone)
	}
	kept := exactjson.CloneObject(before)
	clone = exactjson.CloneObject(kept)
	clone["object"].(map[string]any)["b"] = "changed"
	clone["own"].(profile)["d"] = "changed"
	clone["list"].([]any)[1].([]any)[0] = "changed"
	if !reflect.DeepEqual(kept, before) {
		t.Errorf("the original has changed: %v", kept)
	}
	if exactjson.CloneObject(profile(nil)) != nil {
		t.Error("a nil object has a clone")
	}
}
