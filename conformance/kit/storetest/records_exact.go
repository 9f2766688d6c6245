package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// recordKeys are keys that a store must not confuse.
var recordKeys = []string{
	"a", "A", "á", "a\u0301", " a", "a ", "a/b", "a#b", "a.b", "$a", "%", "%2F", "~", "*", "_", "1", "01", "ß", "ss", "😀",
	"😁", `'; DROP TABLE "users"; --`, strings.Repeat("k", 254) + "x", strings.Repeat("k", 254) + "X",
	strings.Repeat("ä", 127),
}

// recordValues are values that a store must return byte for byte.
var recordValues = []string{
	`null`, `""`, `[]`, `{}`, `-0`, `1.50`, `1e400`, `9007199254740993`, `"<&>😀\u0000\ud800\/"`, `"{\"a\":1}"`,
	`{"b": 1, "a":{"$set":1,"a.b":[ ]},	"":"","B":2}`, `{"a":1,"a":2}`,
	`"` + strings.Repeat("x", store.MaxRecordValue-2) + `"`,
}

func (k records) exact() {
	u := k.user("u1", "ada@example.com")
	var all []*store.Record
	for _, key := range recordKeys {
		all = append(all, k.record(u, "note", key, fmt.Sprintf("%q", key), times[len(all)%len(times)]))
	}
	for _, r := range all {
		k.recorded(r)
	}
	for _, name := range [][2]string{
		{"note", ""}, {"note", "b"}, {"note", "a\u0300"}, {"note", "a\x00"}, {"note", "\xff"}, {"note", "a\n"},
		{"note", strings.Repeat("k", 256)}, {"Note", "a"}, {"", "a"}, {"note/a", "a"}, {"not", "e/a"},
	} {
		k.noRecord(name[0], name[1])
	}
	r := k.record(u, "value", "k", `[0]`, base)
	first := r.Clone()
	r.Value[1] = '1' // the caller changes its record; the store must not be affected
	k.recorded(first)
	for _, value := range recordValues {
		r.Value = json.RawMessage(value)
		k.must(k.records().UpdateRecord(k.Context(), r))
		k.recorded(r)
	}
	kept := r.Clone()
	r.Value[1] = 'y'
	for range 2 {
		got, err := k.records().Record(k.Context(), "value", "k")
		k.must(err)
		k.sameRecord(got, kept)
		got.Value[1] = 'y'
	}
	k.refused(kept)
}

// refused checks that a store rejects invalid records. there is an existing record.
func (k records) refused(there *store.Record) {
	k.Helper()
	large := json.RawMessage(`"` + strings.Repeat("x", store.MaxRecordValue-1) + `"`)
	for _, r := range []*store.Record{
		{Kind: "Note", Key: "new", Value: json.RawMessage(`0`)}, {Kind: "note", Value: json.RawMessage(`0`)},
		{Kind: "note", Key: "new\x00", Value: json.RawMessage(`0`)}, {Kind: "note", Key: "new"},
		{Kind: "note", Key: "new", Value: json.RawMessage(`{`)}, {Kind: "note", Key: "new", Value: large},
	} {
		err := k.records().CreateRecord(k.Context(), r)
		if err == nil || errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrConflict) {
			k.Errorf("a record of the kind %q that is none: error %v", r.Kind, err)
		}
	}
	changed := there.Clone()
	changed.Value = large
	if err := k.records().UpdateRecord(k.Context(), changed); err == nil || errors.Is(err, core.ErrConflict) {
		k.Errorf("a record became too large: error %v", err)
	}
	k.noRecord("note", "new")
	k.recorded(there)
}
