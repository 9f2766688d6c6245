package exactjson_test

import (
	"encoding/json"
	"testing"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// claims are those of a typical session token.
var claims = []byte(`{"name":"Ada Lovelace","email":"ada@example.com",` +
	`"picture":"https://avatars.example.com/u/583231?v=4","sub":"7c9e6679-7425-40de-944b-e07fc1f90ae7",` +
	`"iat":1893456000,"exp":1896048000,"jti":"f81d4fae-7dec-11d0-a765-00a0c91e6bf6","role":"a"}`)

func BenchmarkObject(b *testing.B) {
	b.SetBytes(int64(len(claims)))
	b.ReportAllocs()
	for b.Loop() {
		if err := exactjson.Object(claims, func(string, []byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeObject(b *testing.B) {
	b.SetBytes(int64(len(claims)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := exactjson.DecodeObject(claims); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodingJSON(b *testing.B) {
	b.SetBytes(int64(len(claims)))
	b.ReportAllocs()
	for b.Loop() {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(claims, &m); err != nil {
			b.Fatal(err)
		}
	}
}
