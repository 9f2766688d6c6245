package core

import (
	"encoding/binary"
	"testing"
	"time"
)

// BenchmarkRevocationCheck measures the lookup of one session among a million ended sessions.
func BenchmarkRevocationCheck(b *testing.B) {
	r := &revocations{every: time.Hour, now: time.Now, ended: map[[16]byte]int64{}, users: map[string]userEnd{"2": {}}}
	for i := range uint64(1_000_000) {
		var id [16]byte
		binary.LittleEndian.PutUint64(id[:], i)
		r.ended[id] = 1
	}
	r.lastRead.Store(time.Now().UnixNano())
	token := &Token{Subject: "1", ID: "1"}
	b.ReportAllocs()
	for b.Loop() {
		if err := r.check(b.Context(), token); err != nil {
			b.Fatal(err)
		}
	}
}
