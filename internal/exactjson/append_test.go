package exactjson_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

func TestAppendedMembers(t *testing.T) {
	t.Parallel()
	dst := []byte{'{'}
	dst = exactjson.AppendField(dst, "absent", "", false)
	dst = exactjson.AppendField(dst, "null", "", true)
	dst = exactjson.AppendField(dst, `te"xt`, "a<b\u2028", false)
	moment := time.Date(2030, 1, 1, 1, 0, 0, 5_999_999, time.FixedZone("", 3600))
	dst = exactjson.AppendTime(exactjson.AppendName(dst, "time"), moment)
	further := map[string]json.RawMessage{"b": []byte("1.50"), "a": []byte("{}"), "null": []byte("9")}
	dst = exactjson.AppendMembers(dst, further, func(name string) bool { return name == "null" })
	dst = append(dst, '}')
	const want = `{"null":null,"te\"xt":"a\u003cb\u2028","time":"2030-01-01T00:00:00.005Z","a":{},"b":1.50}`
	if string(dst) != want {
		t.Errorf("got %s, want %s", dst, want)
	}
	if _, err := exactjson.DecodeObject(dst); err != nil {
		t.Error(err)
	}
}

func TestAppendTime(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{
		{}, time.Unix(0, 0), time.Unix(1<<31, 999_999_999), time.Unix(1_700_000_000, 40_000_000), time.Unix(-1, 1_000_000),
		time.Date(2031, 2, 3, 4, 5, 6, 78_900_000, time.FixedZone("", -5*3600)),
		time.Date(12345, 6, 7, 8, 9, 10, 0, time.UTC),
	} {
		want := at.UTC().Format(`"2006-01-02T15:04:05.000Z"`)
		if got := string(exactjson.AppendTime([]byte("before "), at)); got != "before "+want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestKeepCopies(t *testing.T) {
	t.Parallel()
	raw := []byte(`"value"`)
	var members map[string]json.RawMessage
	exactjson.Keep(&members, "name", raw)
	raw[1] = 'X'
	if string(members["name"]) != `"value"` {
		t.Errorf("kept %s", members["name"])
	}
}

// TestQuote encodes texts that other JSON encoders escape in another way.
func TestQuote(t *testing.T) {
	t.Parallel()
	for plain, want := range map[string]string{
		"": `""`, "a": `"a"`, `a"b\c`: `"a\"b\\c"`, "<a&b>": `"<a&b>"`, "é\n\u2028": `"é\n\u2028"`, "\xff": `"\ufffd"`,
	} {
		if got := string(exactjson.Quote(plain)); got != want {
			t.Errorf("%q is %s, want %s", plain, got, want)
		}
	}
}
