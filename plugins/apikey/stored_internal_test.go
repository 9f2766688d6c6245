package apikey

import (
	"net/netip"
	"reflect"
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

// FuzzRecord checks that each record that can be read is written so that it is read as the same key.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"name":"x","hash":"aGFzaA==","last4":"abcd","scopes":["*"],"created":"2030-01-02T03:04:05Z"}`))
	f.Add([]byte(`{"service":"a\"\\\u00e9","networks":["192.0.2.0/24"],"used":"2030-01-02T03:04:05.678Z","uses":7}`))
	f.Add([]byte(`{"scopes":[],"hash":null,"ttl":3600000000000}`))
	f.Add([]byte(`{"uses":1.5,"name":1,"scopes":null,"hash":{}}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		k, err := readRecord(&store.Record{Key: "id", UserID: "ada", Value: value})
		if err != nil {
			return
		}
		if k.write() != nil { // a year of five digits
			return
		}
		again, err := readRecord(k.record)
		if err != nil || !reflect.DeepEqual(again.Scopes, k.Scopes) || again.Name != k.Name || again.TTL != k.TTL ||
			again.Uses != k.Uses || again.Service != k.Service || !again.Created.Equal(k.Created) ||
			!again.Used.Equal(k.Used) {
			t.Errorf("%s was read as %+v, and then as %+v, %v", value, k, again, err)
		}
	})
}

// TestReadRecord reads each field of a record.
func TestReadRecord(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	want := Key{
		ID: "id", UserID: "ada", Service: "billing", Name: "Ünïcode \"x\"", Last4: "abcd",
		Scopes: []string{"orders:read", "*"}, Networks: []netip.Prefix{netip.MustParsePrefix("2001:db8::/32")},
		Created: at, Expires: at, Used: at, Uses: 1 << 40,
	}
	k := &keyRecord{Key: want, Hash: []byte("hash"), TTL: time.Hour, record: &store.Record{Key: "id", UserID: "ada"}}
	if err := k.write(); err != nil {
		t.Fatal(err)
	}
	got, err := readRecord(k.record)
	if err != nil || !reflect.DeepEqual(got.Key, want) || string(got.Hash) != "hash" || got.TTL != time.Hour {
		t.Errorf("read %+v, %v", got, err)
	}
	for _, malformed := range []string{
		`[]`, `{"name":1}`, `{"uses":"1"}`, `{"hash":"?"}`, `{"hash":[]}`, `{"scopes":"*"}`, `{"scopes":[1]}`, `{"ttl":"1"}`,
		`{"created":"now"}`, `{"name":"a`,
	} {
		if _, err := readRecord(&store.Record{Value: []byte(malformed)}); err == nil {
			t.Errorf("%s is accepted", malformed)
		}
	}
}
