package store_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

func TestRecordCheck(t *testing.T) {
	t.Parallel()
	large := `"` + strings.Repeat("x", store.MaxRecordValue-2) + `"`
	for name, tt := range map[string]struct {
		record store.Record
		field  string // the field in the error; empty if there is no error
	}{
		"the least":               {store.Record{Kind: "a", Key: "k", Value: []byte("0")}, ""},
		"the most":                {record(strings.Repeat("a", 32), strings.Repeat("ä", 127)+"k", large), ""},
		"hyphens":                 {record("email-change", "k", "null"), ""},
		"any text as a key":       {record("a", `a/b:c*? "'%_\😀`, "null"), ""},
		"escaped control in JSON": {record("a", "k", `"\u0000\ud800"`), ""},

		"no kind":         {record("", "k", "null"), "Kind"},
		"a long kind":     {record(strings.Repeat("a", 33), "k", "null"), "Kind"},
		"an upper case":   {record("Password", "k", "null"), "Kind"},
		"a digit":         {record("a1", "k", "null"), "Kind"},
		"a separator":     {record("a/b", "k", "null"), "Kind"},
		"no key":          {record("a", "", "null"), "Key"},
		"a long key":      {record("a", strings.Repeat("k", 256), "null"), "Key"},
		"NUL in a key":    {record("a", "k\x00", "null"), "Key"},
		"a line break":    {record("a", "k\n", "null"), "Key"},
		"a broken key":    {record("a", "k\xff", "null"), "Key"},
		"no value":        {record("a", "k", ""), "Value"},
		"no JSON":         {record("a", "k", "{"), "Value"},
		"two values":      {record("a", "k", "1 2"), "Value"},
		"space before":    {record("a", "k", " 1"), "Value"},
		"a line behind":   {record("a", "k", "1\n"), "Value"},
		"a broken value":  {record("a", "k", "\"\xff\""), "Value"},
		"a large value":   {record("a", "k", large+"1"), "Value"},
		"a broken owner":  {store.Record{Kind: "a", Key: "k", UserID: "\xff", Value: []byte("0")}, "UserID"},
		"NUL in an owner": {store.Record{Kind: "a", Key: "k", UserID: "u\x00", Value: []byte("0")}, "UserID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tt.record.Check()
			if (err == nil) != (tt.field == "") || err != nil && !strings.Contains(err.Error(), tt.field+" ") {
				t.Errorf("error %v, want one about %q", err, tt.field)
			}
			named := tt.field != "Kind" && tt.field != "Key"
			if got := store.IsRecordName(tt.record.Kind, tt.record.Key); got != named {
				t.Errorf("IsRecordName says %v", got)
			}
		})
	}
}

func record(kind, key, value string) store.Record {
	return store.Record{Kind: kind, Key: key, Value: []byte(value)}
}

func TestRecordPrintsNoValue(t *testing.T) {
	t.Parallel()
	r := record("reset", "key-of-a-record", `"value-of-a-record"`)
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	logger.InfoContext(t.Context(), "x", "record", r, "pointer", &r, "list", []*store.Record{&r})
	for _, text := range []string{
		fmt.Sprint(r, &r), fmt.Sprintf("%+v %#v %s %x %q", r, &r, r, r, r), log.String(),
	} {
		if strings.Contains(text, "of-a-record") || !strings.Contains(text, "reset") {
			t.Errorf("printed as %s", text)
		}
	}
}

func TestRecordClone(t *testing.T) {
	t.Parallel()
	r := store.Record{Kind: "a", Key: "k", UserID: "u", Value: []byte("1"), Expires: time.Unix(1, 0), Version: 3}
	c := r.Clone()
	r.Value[0] = '2'
	if string(c.Value) != "1" || c.Version != 3 || !c.Expires.Equal(r.Expires) || c.UserID != "u" {
		t.Errorf("the copy holds %s, version %d", c.Value, c.Version)
	}
	if (*store.Record)(nil).Clone() != nil {
		t.Error("nil became something")
	}
}
