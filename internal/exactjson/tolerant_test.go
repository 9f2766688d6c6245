package exactjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

func trusted(name string) bool { return name == "sub" || name == "aud" }

// TestTolerant reads documents with malformed strings: they are repaired only in members that are not trusted.
func TestTolerant(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		text string
		want map[string]any // nil if rejected
	}{
		"well-formed":                   {`{"sub":"u1","bio":"a\u0000b"}`, map[string]any{"sub": "u1", "bio": "a\x00b"}},
		"half an emoji":                 {`{"bio":"\ud83d","sub":"u1"}`, map[string]any{"sub": "u1", "bio": "\ufffd"}},
		"the other half":                {`{"bio":"\udE00!","sub":"u1"}`, map[string]any{"sub": "u1", "bio": "\ufffd!"}},
		"two halves in the wrong order": {`{"bio":"\ude00\ud83d"}`, map[string]any{"bio": "\ufffd\ufffd"}},
		"half an emoji before an escape": {`{"bio":"\ud83d\n\ud83d\u0041"}`,
			map[string]any{"bio": "\ufffd\n\ufffdA"}},
		"a whole emoji next to it": {`{"bio":"\ud83d\ude00\ud83d"}`, map[string]any{"bio": "😀\ufffd"}},
		"Latin-1": {"{\"bio\":\"J\xf6rg\",\"sub\":\"u1\"}", map[string]any{"sub": "u1",
			"bio": "J\ufffdrg"}},
		"a raw line break": {"{\"bio\":\"a\nb\x00\",\"sub\":\"u1\"}", map[string]any{"sub": "u1",
			"bio": "a\nb\x00"}},
		"a byte order mark":          {"\ufeff{\"sub\":\"u1\"}", map[string]any{"sub": "u1"}},
		"a byte order mark and more": {"\ufeff{\"bio\":\"\\ud83d\"}", map[string]any{"bio": "\ufffd"}},
		"deep inside": {`{"sub":"u1","a":[{"b":"\ud83d"}],"c":1}`,
			map[string]any{"sub": "u1", "a": []any{map[string]any{"b": "\ufffd"}}, "c": json.Number("1")}},
		"in a name":                 {`{"b\ud83d":1,"sub":"u1"}`, map[string]any{"sub": "u1", "b\ufffd": json.Number("1")}},
		"trusted names deep inside": {`{"a":{"sub":"\ud83d"}}`, map[string]any{"a": map[string]any{"sub": "\ufffd"}}},

		"trusted, half an emoji":       {`{"bio":"x","sub":"\ud83d"}`, nil},
		"trusted, Latin-1":             {"{\"bio\":\"x\",\"sub\":\"\xf6\"}", nil},
		"trusted, raw control":         {"{\"sub\":\"a\x00\"}", nil},
		"trusted, inside a list":       {`{"aud":["a","\ud83d"]}`, nil},
		"trusted, inside an object":    {`{"aud":{"a":["\ud83d"]}}`, nil},
		"trusted, its name escaped":    {`{"s\u0075b":"\ud83d"}`, nil},
		"trusted, after another":       {`{"bio":"\ud83d","sub":"\ud83d"}`, nil},
		"twice":                        {`{"bio":"\ud83d","sub":"u1","sub":"u2"}`, nil},
		"twice after the repair":       {`{"b\ud83d":1,"b\ud83e":2}`, nil},
		"a byte order mark inside":     {"{\ufeff\"sub\":\"u1\"}", nil},
		"two byte order marks":         {"\ufeff\ufeff{\"sub\":\"u1\"}", nil},
		"unknown escape":               {`{"bio":"\ud83d\x"}`, nil},
		"cut off":                      {`{"bio":"\ud83d`, nil},
		"cut off in an escape":         {`{"bio":"\ud83d\`, nil},
		"cut off in a surrogate":       {`{"bio":"\ud8`, nil},
		"something else after it":      {`{"bio":"\ud83d"} {}`, nil},
		"no object":                    {`["\ud83d"]`, nil},
		"no string where the value is": {"{\"bio\":\"\xff\",\"a\":\xff}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := exactjson.DecodeObjectTolerant([]byte(row.text), trusted)
			if row.want == nil {
				if _, ok := errors.AsType[*exactjson.Error](err); !ok {
					t.Errorf("read as %#v, error %v", got, err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, row.want) {
				t.Errorf("read as %#v, error %v; want %#v", got, err, row.want)
			}
		})
	}
}

func TestIsClean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": true, "u1": true, "Jörg 😀": true, "a\x00": false, "a\n": false, "\x7f": false, "\u0085": false, "\ufffd": false,
		"\xff": false,
	} {
		if got := exactjson.IsClean(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// FuzzTolerant compares with encoding/json, which repairs in the same way, and checks that trusted members are never
// repaired.
func FuzzTolerant(f *testing.F) {
	for _, text := range []string{
		`{"bio":"\ud83d","sub":"u1"}`, "{\"bio\":\"\xff\\ud83d\\ude00\",\"aud\":[\"\\ude00\"]}", "\ufeff{\"a\":\"\n\"}",
		`{"a":{"sub":"\ud83d\u0041"},"sub":"\\ud83d"}`, `{"\ud83d":{"a":["\ud83d"]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		got, err := exactjson.DecodeObjectTolerant(data, trusted)
		if !bytes.Equal(before, data) {
			t.Fatal("the text was changed")
		}
		exact, exactErr := exactjson.DecodeObject(data)
		if exactErr == nil && (err != nil || !reflect.DeepEqual(got, exact)) {
			t.Fatalf("a well-formed text is read as %#v, %v", got, err)
		}
		if err != nil {
			return
		}
		var want map[string]any
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if json.Valid(data) && (d.Decode(&want) != nil || !reflect.DeepEqual(got, want)) {
			t.Fatalf("got %#v, encoding/json %#v", got, want)
		}
		if sub, _ := got["sub"].(string); exactErr != nil && bytes.ContainsRune([]byte(sub), '\ufffd') &&
			!bytes.ContainsRune(data, '\ufffd') && !bytes.Contains(bytes.ToLower(data), []byte(`\ufffd`)) {
			t.Fatalf("sub was repaired to %q", sub)
		}
	})
}
