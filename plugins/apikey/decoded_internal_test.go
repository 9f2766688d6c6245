package apikey

import (
	"fmt"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// TestDecoded reads records with the same ID one after another. The result is always that of the store, also if only
// the user or the expiry differs.
func TestDecoded(t *testing.T) {
	var d decoded
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, row := range []struct {
		value, user, name string
		expires           time.Time
	}{
		{`{"name":"one"}`, "ada", "one", now},
		{`{"name":"one"}`, "ada", "one", now.Add(time.Hour)},
		{`{"name":"one"}`, "eve", "one", now},
		{`{"name":"two"}`, "eve", "two", now},
		{`{"name":"one"}`, "ada", "one", now},
	} {
		r := &store.Record{Kind: kind, Key: "id", UserID: row.user, Value: []byte(row.value), Expires: row.expires}
		k, err := d.read(r)
		if err != nil || k.ID != "id" || k.Name != row.name || k.UserID != row.user || !k.Expires.Equal(row.expires) ||
			k.record != r {
			t.Errorf("%d: %+v, %v", i, k, err)
		}
	}
	if _, err := d.read(&store.Record{Kind: kind, Key: "id", Value: []byte(`{"name":1}`)}); err == nil {
		t.Error("a malformed record is accepted")
	}
	for i := range 3 * maxDecoded {
		if _, err := d.read(&store.Record{Kind: kind, Key: fmt.Sprint(i), Value: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		if len(d.all) > maxDecoded {
			t.Fatalf("%d records are remembered", len(d.all))
		}
	}
}
