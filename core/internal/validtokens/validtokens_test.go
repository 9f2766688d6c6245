package validtokens

import (
	"encoding/binary"
	"testing"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	var m Memory
	m.Note(Hash{1}, false)
	m.Note(Hash{2}, true)
	if m.Has(Hash{1}) || !m.Has(Hash{2}) {
		t.Error("another token was valid")
	}
	if m.Note(Hash{2}, false); m.Has(Hash{2}) {
		t.Error("a token stays valid")
	}
	for i := range maxHashes + 1 {
		var hash Hash
		binary.BigEndian.PutUint64(hash[:], uint64(i))
		m.Note(hash, true)
	}
	if len(m.seen) != 1 {
		t.Errorf("%d hashes", len(m.seen))
	}
}
