package keyvalue

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// TestPlain checks that a document decoded without encoding/json gives the same result as with it.
func TestPlain(t *testing.T) {
	const ada = `{"id":"ada","name":"Ada","email":"ada@example.com","emailVerified":null,"image":null}`
	for name, row := range map[string]struct {
		document string
		plain    bool
	}{
		"as it is written":    {ada, true},
		"a time":              {strings.Replace(ada, "null", `"2030-01-02T03:04:05.678Z"`, 1), true},
		"beyond ASCII":        {strings.Replace(ada, "Ada", "Ædå 🦊", 1), true},
		"no name":             {strings.Replace(ada, `"Ada"`, "null", 1), true},
		"an empty name":       {strings.Replace(ada, `"Ada"`, `""`, 1), true},
		"members left out":    {`{"id":"ada"}`, true},
		"a member twice":      {strings.Replace(ada, `"id":`, `"id":"eve","id":`, 1), true},
		"an escape":           {strings.Replace(ada, "Ada", `\"Ada\"`, 1), false},
		"an escaped name":     {strings.Replace(ada, `"name"`, `"n\u0061me"`, 1), false},
		"further members":     {strings.Replace(ada, "}", `,"extra":{"role":"admin"}}`, 1), false},
		"a member in capital": {strings.Replace(ada, `"name"`, `"Name"`, 1), false},
		"spaces":              {strings.Replace(ada, ":", ": ", 1), false},
		"a line behind":       {ada + "\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, ok := plainUser(row.document); ok != row.plain {
				t.Errorf("plain: %v, want %v", ok, row.plain)
			}
			got, err := decodeUser(row.document)
			if err != nil {
				t.Fatal(err)
			}
			want, err := decodeUser(row.document + " ") // no plain document ends with a space
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v, %v", got, want, err)
			}
		})
	}
	for _, document := range []string{
		"", "{", "{}x", `{"id":"ada"`, `{"id":"ada",`, `{"id":"ada"}}`, `{"id":null}x`, `{"id"}`, `{"id":}`, `{"id":"ada`,
		`{"id":7}`, `{"id":"ada","emailVerified":"yesterday"}`, "[]", `{"id":"` + "\xff" + `"}`,
	} {
		if u, ok := plainUser(document); ok {
			t.Errorf("%s is %+v", document, u)
		}
	}
}

func TestPlainEnd(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 678e6, time.UTC)
	for document, plain := range map[string]bool{
		`{"sessionToken":"s","expires":"2030-01-02T03:04:05.678Z"}`:                true,
		`{"sessionToken":"\"","expires":"2030-01-02T03:04:05.678Z"}`:               false,
		`{"sessionToken":"s","expires":"2030-01-02T03:04:05.678Z","userId":"ada"}`: false,
	} {
		_, ok := plainEnd(document)
		if got, err := decodeEnd(document); err != nil || !got.Equal(at) || ok != plain {
			t.Errorf("%s: %v, %v; plain %v", document, got, err, ok)
		}
	}
	for _, document := range []string{`{"sessionToken":"s"}`, `{"expires":null}`, `{"expires":"never"}`} {
		if at, ok := plainEnd(document); ok {
			t.Errorf("%s ends at %v", document, at)
		}
	}
}

func TestPlainAllocations(t *testing.T) {
	document, err := encodeUser(&store.User{ID: "ada", Name: "Ada", Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = decodeUser(document) }); n > 2 {
		t.Errorf("a user takes %v allocations, 2 at most", n)
	}
	if document, err = encodeExpires("s", time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = decodeEnd(document) }); n > 1 {
		t.Errorf("an end takes %v allocations, 1 at most", n)
	}
}
