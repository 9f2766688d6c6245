package exactjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

func TestObject(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"empty", `{}`, ``},
		{"empty with blanks", " {\t\r\n} ", ``},
		{"one", `{"a":1}`, `a=1;`},
		{"order as written", `{"b":1,"a":2}`, `b=1;a=2;`},
		{"blanks stay outside", " { \"a\" :\t\"x y\" ,\n\"b\" : [ 1 , 2 ] } \r\n", `a="x y";b=[ 1 , 2 ];`},
		{"all kinds", `{"a":null,"b":true,"c":false,"d":-1.5e+3,"e":"","f":{},"g":[]}`,
			`a=null;b=true;c=false;d=-1.5e+3;e="";f={};g=[];`},
		{"number kept as text", `{"n":123456789012345678901234567890.10}`, `n=123456789012345678901234567890.10;`},
		{"empty name", `{"":1}`, `=1;`},
		{"escaped name", `{"\u0061\n\"\/\\":1}`, "a\n\"/\\=1;"},
		{"surrogate pair in a name", `{"\ud83d\uDE00":1}`, "😀=1;"},
		{"names that differ in case only", `{"sub":1,"SUB":2,"Sub":3}`, `sub=1;SUB=2;Sub=3;`},
		{"Kelvin sign is no k", "{\"kid\":1,\"\u212aid\":2}", "kid=1;\u212aid=2;"},
		{"the same name in different objects", `{"a":{"a":{"a":1}},"b":{"a":1}}`, `a={"a":{"a":1}};b={"a":1};`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got strings.Builder
			err := exactjson.Object([]byte(tt.text), func(name string, value []byte) error {
				fmt.Fprintf(&got, "%s=%s;", name, value)
				return nil
			})
			if err != nil || got.String() != tt.want {
				t.Errorf("got %q, %v; want %q", got.String(), err, tt.want)
			}
		})
	}
}

// refused are texts that no function accepts as an object.
var refused = []struct{ name, text, reason string }{
	{"nothing", ``, "no object"},
	{"blanks only", ` `, "no object"},
	{"text", `"a"`, "no object"},
	{"array", `[{}]`, "no object"},
	{"null", `null`, "no object"},
	{"byte order mark", "\ufeff{}", "no object"},
	{"other blanks", "\u00a0{}", "no object"},
	{"vertical tab", "{\v}", "unexpected character"},
	{"not closed", `{`, "unexpected end"},
	{"name only", `{"a"`, "unexpected end"},
	{"no value", `{"a":`, "unexpected end"},
	{"no value before the brace", `{"a":}`, "unexpected character"},
	{"comma at the end", `{"a":1,}`, "unexpected character"},
	{"two commas", `{"a":1,,"b":1}`, "unexpected character"},
	{"comma first", `{,"a":1}`, "unexpected character"},
	{"no colon", `{"a" 1}`, "unexpected character"},
	{"no quotes", `{a:1}`, "unexpected character"},
	{"single quotes", `{'a':1}`, "unexpected character"},
	{"comment", `{/**/}`, "unexpected character"},
	{"NaN", `{"a":NaN}`, "unexpected character"},
	{"literal in capitals", `{"a":TRUE}`, "unexpected character"},
	{"cut literal", `{"a":nul}`, "unexpected character"},
	{"long literal", `{"a":nulll}`, "unexpected character"},
	{"array with comma at the end", `{"a":[1,]}`, "unexpected character"},
	{"array not closed", `{"a":[1`, "unexpected end"},
	{"mismatched brackets", `{"a":[1}]`, "unexpected character"},

	{"second value", `{}{}`, "text after the value"},
	{"brace too many", `{}}`, "text after the value"},
	{"NUL behind", "{}\x00", "text after the value"},

	{"name twice", `{"a":1,"a":1}`, "name used twice"},
	{"name twice, not neighbours", `{"a":1,"b":2,"a":3}`, "name used twice"},
	{"name twice, one escaped", `{"sub":1,"s\u0075b":2}`, "name used twice"},
	{"name twice further in", `{"x":[{"a":1,"a":2}]}`, "name used twice"},
	{"name twice among many", `{` + members(100) + `,"n7":0}`, "name used twice"},
	{"name twice among many, late", `{` + members(100) + `,"n99":0}`, "name used twice"},

	{"control character", "{\"a\":\"\x1f\"}", "control character in a string"},
	{"newline in a string", "{\"a\":\"\n\"}", "control character in a string"},
	{"NUL in a name", "{\"a\x00\":1}", "control character in a string"},
	{"escape that JSON lacks", `{"a":"\x41"}`, "unknown escape"},
	{"short hex", `{"a":"\u12"}`, "unknown escape"},
	{"no hex", `{"a":"\u12g4"}`, "unknown escape"},
	{"cut escape", `{"a":"\`, "unexpected end"},
	{"cut hex", `{"a":"\u1`, "unknown escape"},
	{"string not closed", `{"a":"b`, "unexpected end"},
	{"escaped closing quote", `{"a":"\"}`, "unexpected end"},

	{"invalid UTF-8 in a value", "{\"a\":\"\xff\"}", "invalid UTF-8"},
	{"invalid UTF-8 in a name", "{\"\xc3\":1}", "invalid UTF-8"},
	{"overlong UTF-8", "{\"a\":\"\xc0\xaf\"}", "invalid UTF-8"},
	{"surrogate as UTF-8", "{\"a\":\"\xed\xa0\x80\"}", "invalid UTF-8"},
	{"above U+10FFFF", "{\"a\":\"\xf4\x90\x80\x80\"}", "invalid UTF-8"},
	{"high surrogate alone", `{"a":"\ud83d"}`, "lone surrogate"},
	{"high surrogate and a letter", `{"a":"\ud83dabcdefgh"}`, "lone surrogate"},
	{"high surrogate and another escape", `{"a":"\ud83d\u0041"}`, "lone surrogate"},
	{"two high surrogates", `{"a":"\ud83d\ud83d"}`, "lone surrogate"},
	{"low surrogate alone", `{"a":"\ude00 and more"}`, "lone surrogate"},
	{"surrogates in the wrong order", `{"a":"\ude00\ud83d"}`, "lone surrogate"},

	{"leading zero", `{"a":01}`, "malformed number"},
	{"plus sign", `{"a":+1}`, "unexpected character"},
	{"minus alone", `{"a":-}`, "malformed number"},
	{"point first", `{"a":.5}`, "unexpected character"},
	{"point last", `{"a":1.}`, "malformed number"},
	{"no exponent", `{"a":1e}`, "malformed number"},
	{"sign without exponent", `{"a":1e+}`, "malformed number"},
	{"hexadecimal", `{"a":0x1}`, "unexpected character"},
	{"two points", `{"a":1.2.3}`, "unexpected character"},

	{"objects too deep", strings.Repeat(`{"a":`, 65) + `1` + strings.Repeat(`}`, 65), "nested too deeply"},
	{"arrays too deep", `{"a":` + strings.Repeat(`[`, 64) + strings.Repeat(`]`, 64) + `}`, "nested too deeply"},
	{"a million brackets", `{"a":` + strings.Repeat(`[`, 1_000_000), "nested too deeply"},
	{"too many members", `{` + members(4097) + `}`, "too many members"},
	{"too many members further in", `{"a":[{` + members(4097) + `}]}`, "too many members"},
}

func members(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"n%d":%d`, i, i)
	}
	return b.String()
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			err := exactjson.Object([]byte(tt.text), func(string, []byte) error { return nil })
			var e *exactjson.Error
			if !errors.As(err, &e) || e.Reason != tt.reason {
				t.Errorf("Object: %v, want %q", err, tt.reason)
			}
			if v, err := exactjson.DecodeObject([]byte(tt.text)); err == nil || v != nil {
				t.Errorf("DecodeObject: %v, %v; want an error", v, err)
			}
		})
	}
}

func TestLimitsAreReached(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text string }{
		{"objects", strings.Repeat(`{"a":`, 64) + `1` + strings.Repeat(`}`, 64)},
		{"arrays", `{"a":` + strings.Repeat(`[`, 63) + strings.Repeat(`]`, 63) + `}`},
		{"members", `{` + members(4096) + `}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := exactjson.Object([]byte(tt.text), func(string, []byte) error { return nil }); err != nil {
				t.Error("Object:", err)
			}
			if _, err := exactjson.Decode([]byte(tt.text)); err != nil {
				t.Error("Decode:", err)
			}
		})
	}
}

func TestObjectEndsWithTheErrorOfMember(t *testing.T) {
	t.Parallel()
	mine, calls := errors.New("mine"), 0
	err := exactjson.Object([]byte(`{"a":1,"b":2`), func(string, []byte) error { calls++; return mine })
	if !errors.Is(err, mine) || calls != 1 {
		t.Errorf("got %v after %d calls", err, calls)
	}
}

// TestObjectSharesNoNames: names must not change with the parsed bytes, and appending to a value must not overwrite the
// text after it.
func TestObjectSharesNoNames(t *testing.T) {
	t.Parallel()
	data := []byte(`{"sub":"a","exp":1}`)
	var names []string
	err := exactjson.Object(data, func(name string, value []byte) error {
		names = append(names, name)
		_ = append(value, "xxxxxxxx"...)
		return nil
	})
	clear(data)
	if err != nil || !reflect.DeepEqual(names, []string{"sub", "exp"}) {
		t.Errorf("got %q, %v", names, err)
	}
}

func TestErrorsQuoteNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"hunter2":"hunter2"`, `{"hunter2":1,"hunter2":2}`, `{"a":hunter2}`, `hunter2`} {
		err := exactjson.Object([]byte(text), func(string, []byte) error { return nil })
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       any
	}{
		{"null", `null`, nil},
		{"true", ` true `, true},
		{"false", `false`, false},
		{"string", `"a\tb"`, "a\tb"},
		{"number", `12345678901234567890.50`, json.Number("12345678901234567890.50")},
		{"empty array", `[]`, []any{}},
		{"empty object", `{}`, map[string]any{}},
		{"nested", `{"a":[1,{"b":null}],"c":"ü\u20ac😀"}`, map[string]any{
			"a": []any{json.Number("1"), map[string]any{"b": nil}}, "c": "ü€😀",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := exactjson.Decode([]byte(tt.text))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %#v, %v; want %#v", got, err, tt.want)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, ` `, `tru`, `nulls`, `1 2`, `"a" "b"`, `[1`, `]`, `-`, "\"\xff\"", `[{"a":1,"a":2}]`, "\ufeff1",
	} {
		if v, err := exactjson.Decode([]byte(text)); err == nil || v != nil {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, raw, want string
		ok              bool
	}{
		{"empty", `""`, "", true},
		{"plain", `"ada@example.com"`, "ada@example.com", true},
		{"every escape", `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"`, "\"\\/\b\f\n\r\té😀", true},
		{"escaped NUL", `"a\u0000"`, "a\x00", true},
		{"unescaped U+2028", "\"\u2028\"", "\u2028", true},
		{"delete character", "\"\x7f\"", "\x7f", true},

		{"absent", ``, "", false},
		{"null", `null`, "", false},
		{"number", `1`, "", false},
		{"object", `{"a":"b"}`, "", false},
		{"quote alone", `"`, "", false},
		{"not closed", `"a`, "", false},
		{"blank before", ` "a"`, "", false},
		{"blank behind", `"a" `, "", false},
		{"two", `"a""b"`, "", false},
		{"invalid UTF-8", "\"\xff\"", "", false},
		{"lone surrogate", `"\ud800"`, "", false},
		{"newline", "\"\n\"", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := exactjson.Text([]byte(tt.raw)); got != tt.want || ok != tt.ok {
				t.Errorf("got %q, %v; want %q, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
	if s, ok := exactjson.Text[[]byte](nil); s != "" || ok {
		t.Errorf("nil: %q, %v", s, ok)
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		raw  string
		want []string
		ok   bool
	}{
		{`[]`, []string{}, true},
		{`["a"]`, []string{"a"}, true},
		{`[ "a" , "\u00e9\"" ]`, []string{"a", `é"`}, true},

		{``, nil, false},
		{`null`, nil, false},
		{`"a"`, nil, false},
		{`["a"`, nil, false},
		{`["a",]`, nil, false},
		{`["a" "b"]`, nil, false},
		{`["a",1]`, nil, false},
		{`[null]`, nil, false},
		{`[["a"]]`, nil, false},
		{`["a"] `, nil, false},
		{"[\"\xff\"]", nil, false},
	} {
		if got, ok := exactjson.Texts([]byte(tt.raw)); !slices.Equal(got, tt.want) || ok != tt.ok {
			t.Errorf("%s: got %q, %v; want %q, %v", tt.raw, got, ok, tt.want, tt.ok)
		}
	}
}

func TestIsNull(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		"null": true, "": false, "NULL": false, " null": false, `"null"`: false, "0": false,
	} {
		if got := exactjson.IsNull([]byte(raw)); got != want {
			t.Errorf("%q: %v", raw, got)
		}
	}
	if exactjson.IsNull[[]byte](nil) {
		t.Error("nil")
	}
}

func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	type result struct {
		n  int64
		ok bool
	}
	no := result{}
	for _, tt := range []struct {
		raw        string
		int, floor result
	}{
		{"0", result{0, true}, result{0, true}},
		{"-0", result{0, true}, result{0, true}},
		{"-0.0e5", result{0, true}, result{0, true}},
		{"1893456000", result{1893456000, true}, result{1893456000, true}},
		{"12345.0", result{12345, true}, result{12345, true}},
		{"1e3", result{1000, true}, result{1000, true}},
		{"1E+3", result{1000, true}, result{1000, true}},
		{"1.5e1", result{15, true}, result{15, true}},
		{"1500e-2", result{15, true}, result{15, true}},
		{"9223372036854775807", result{9223372036854775807, true}, result{9223372036854775807, true}},
		{"-9223372036854775808", result{-9223372036854775808, true}, result{-9223372036854775808, true}},
		{"922337203685477580.7e1", result{9223372036854775807, true}, result{9223372036854775807, true}},
		{"0e999999999999999999999", result{0, true}, result{0, true}},
		{"1" + strings.Repeat("0", 1000) + "e-1000", result{1, true}, result{1, true}},
		{"0." + strings.Repeat("0", 1000) + "1e1001", result{1, true}, result{1, true}},
		{"9007199254740993", result{9007199254740993, true}, result{9007199254740993, true}}, // not exact as a float64

		{"1.5", no, result{1, true}},
		{"4102444800.999999999", no, result{4102444800, true}},
		{"-1.5", no, result{-2, true}},
		{"-0.1", no, result{-1, true}},
		{"1e-1", no, result{0, true}},
		{"1e-999999999999999999999", no, result{0, true}},
		{"-1e-999999999999999999999", no, result{-1, true}},
		{"9223372036854775807.9", no, result{9223372036854775807, true}},
		{"-9223372036854775807.9", no, result{-9223372036854775808, true}},

		{"9223372036854775808", no, no},
		{"-9223372036854775809", no, no},
		{"-9223372036854775808.1", no, no},
		{"18446744073709551616", no, no},
		{"1e19", no, no},
		{"1e999", no, no},
		{"1e999999999999999999999", no, no},
		{"1" + strings.Repeat("0", 100_000), no, no},
		{"", no, no},
		{"-", no, no},
		{"+1", no, no},
		{"01", no, no},
		{"1.", no, no},
		{".5", no, no},
		{"1e", no, no},
		{" 1", no, no},
		{"1 ", no, no},
		{"0x10", no, no},
		{"1_000", no, no},
		{`"1"`, no, no},
		{"null", no, no},
		{"true", no, no},
		{"Infinity", no, no},
	} {
		t.Run(tt.raw[:min(len(tt.raw), 30)], func(t *testing.T) {
			n, ok := exactjson.Int64([]byte(tt.raw))
			if got := (result{n, ok}); got != tt.int {
				t.Errorf("Int64: got %v, want %v", got, tt.int)
			}
			n, ok = exactjson.Floor([]byte(tt.raw))
			if got := (result{n, ok}); got != tt.floor {
				t.Errorf("Floor: got %v, want %v", got, tt.floor)
			}
		})
	}
}

// TestObjectParts checks that each value is passed as a string, which outlives the data, and as a slice of the data
// whose capacity ends with the value, so that appending to one does not change the next.
func TestObjectParts(t *testing.T) {
	t.Parallel()
	data := []byte(`{"a":"one","b":2}`)
	texts, parts := map[string]string{}, map[string][]byte{}
	err := exactjson.ObjectParts(data, func(name, text string, value []byte) error {
		texts[name], parts[name] = text, value
		return nil
	})
	if err != nil || string(parts["a"]) != `"one"` || texts["a"] != `"one"` || &parts["a"][0] != &data[5] {
		t.Fatalf("%v: %q", err, parts)
	}
	_ = append(parts["a"], `,"b":3}`...)
	copy(data, `{"a":"two","b":4}`)
	if string(parts["b"]) != "4" || texts["a"] != `"one"` || texts["b"] != "2" {
		t.Errorf("%q, %q", texts, parts)
	}
	err = exactjson.ObjectParts([]byte(`{"a":1,"a":2}`), func(string, string, []byte) error { return nil })
	if err == nil {
		t.Error("a name was passed twice")
	}
}

// TestObjectSpans checks the positions of values, without white space.
func TestObjectSpans(t *testing.T) {
	t.Parallel()
	const text = ` { "a" : "one" , "b":[ 2 ] } `
	got := map[string]string{}
	err := exactjson.ObjectSpans(text, func(name string, start, end int) error {
		got[name] = text[start:end]
		return nil
	})
	if err != nil || len(got) != 2 || got["a"] != `"one"` || got["b"] != `[ 2 ]` {
		t.Errorf("%q, %v", got, err)
	}
}
