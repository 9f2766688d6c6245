package exactjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// stricter contains the reasons to reject texts that encoding/json accepts, each with a check of the text.
var stricter = map[string]func(data []byte) bool{
	"name used twice": func(data []byte) bool { return bytes.Count(data, []byte{'"'}) >= 4 },
	"invalid UTF-8":   func(data []byte) bool { return !utf8.Valid(data) },
	"lone surrogate":  func(data []byte) bool { return bytes.Contains(bytes.ToLower(data), []byte(`\ud`)) },
	"nested too deeply": func(data []byte) bool {
		return bytes.Count(data, []byte{'['})+bytes.Count(data, []byte{'{'}) > exactjson.MaxDepth
	},
	"too many members": func(data []byte) bool { return bytes.Count(data, []byte{':'}) > exactjson.MaxMembers },
}

// FuzzDecode compares Decode and Object with encoding/json: accepted texts have the same result, and texts that only
// encoding/json accepts are rejected for a reason in the list.
func FuzzDecode(f *testing.F) {
	for _, tt := range refused {
		if len(tt.text) < 1000 {
			f.Add([]byte(tt.text))
		}
	}
	f.Add([]byte(`{"name":"Ada","email":"ada@example.com","picture":null,"sub":"1",` +
		`"iat":1577836800.5,"l":[1e3,true,{"a":"\ud83d\ude00"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		got, err := exactjson.Decode(data)
		if !bytes.Equal(before, data) {
			t.Fatal("the text was changed")
		}
		if err != nil {
			var e *exactjson.Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(data) {
				t.Fatalf("odd error %v", err)
			}
			if deserved := stricter[e.Reason]; json.Valid(data) && (deserved == nil || !deserved(data)) {
				t.Fatalf("%v, but encoding/json reads it", err)
			}
			return
		}
		var want any
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if err := d.Decode(&want); err != nil || !json.Valid(data) {
			t.Fatalf("encoding/json refuses what was read: %v", err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %#v, encoding/json %#v", got, want)
		}
		object, isObject := got.(map[string]any)
		walked := map[string]any{}
		err = exactjson.Object(data, func(name string, value []byte) error {
			if !bytes.Equal(value, bytes.TrimSpace(value)) {
				t.Errorf("blanks around the value of %q", name)
			}
			v, err := exactjson.Decode(value)
			walked[name] = v
			if s, isText := v.(string); isText {
				if got, ok := exactjson.Text(value); !ok || got != s {
					t.Errorf("Text: %q, %v; Decode: %q", got, ok, s)
				}
			}
			return err
		})
		if isObject != (err == nil) || isObject && !reflect.DeepEqual(walked, object) {
			t.Fatalf("Object: %v, %v; Decode: %v", walked, err, got)
		}
		if raw, err := json.Marshal(got); err != nil {
			t.Fatal(err)
		} else if again, err := exactjson.Decode(raw); err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("written and read again: %v, %v", again, err)
		}
	})
}

// FuzzWhole compares Int64 and Floor with math/big.
func FuzzWhole(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "1e3", "12345.0", "1.5", "-1.5", "9223372036854775807", "-9223372036854775808.5", "1e-5", "5e18", "1e99",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, whole := exactjson.Int64(raw)
		floor, ok := exactjson.Floor(raw)
		if whole && (!ok || floor != n) {
			t.Fatalf("Int64 %d, Floor %d %v", n, floor, ok)
		}
		number := json.Valid(raw) && len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') &&
			raw[len(raw)-1] > ' '
		if !number {
			if ok {
				t.Fatalf("%q is no number", raw)
			}
			return
		}
		if i := bytes.IndexAny(raw, "eE"); i >= 0 && len(raw)-i > 5 || len(raw) > 100 {
			return // math/big would compute for minutes
		}
		r, valid := new(big.Rat).SetString(string(raw))
		if !valid {
			t.Fatalf("math/big refuses %q", raw)
		}
		want := new(big.Int).Div(r.Num(), r.Denom()) // Euclidean division rounds down, because denominators are positive
		if ok != want.IsInt64() || ok && floor != want.Int64() || whole != (r.IsInt() && want.IsInt64()) {
			t.Fatalf("%q: Int64 %d %v, Floor %d %v; math/big %v", raw, n, whole, floor, ok, want)
		}
	})
}
