package apikey

import (
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// TestRecordFields checks the names of fields in records. cmd/latchkey-store reads them without this package.
func TestRecordFields(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	r := keyRecord{record: &store.Record{}, Hash: []byte("hash"), Key: Key{
		Service: "billing", Name: "x", Last4: "abcd", Scopes: []string{"*"}, Created: at, Expires: at, Used: at, Uses: 1,
	}}
	if err := r.write(); err != nil {
		t.Fatal(err)
	}
	const want = `{"service":"billing","name":"x","hash":"aGFzaA==","last4":"abcd","scopes":["*"],` +
		`"created":"2030-01-02T03:04:05Z","used":"2030-01-02T03:04:05Z","uses":1}`
	if got := string(r.record.Value); got != want || !r.record.Expires.Equal(at) {
		t.Errorf("the record is %s, until %v", got, r.record.Expires)
	}
}
