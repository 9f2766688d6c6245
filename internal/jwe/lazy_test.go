package jwe_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/internal/jwe"
)

// TestKeysAreDerivedOnFirstUse counts allocations: deriving the keys of two secrets needs more than a hundred.
func TestKeysAreDerivedOnFirstUse(t *testing.T) {
	secrets := []string{secretOne, secretTwo}
	n := testing.AllocsPerRun(10, func() {
		if _, err := jwe.NewKeyring(secrets, salt); err != nil {
			t.Error(err)
		}
	})
	if n > 10 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkNewKeyring(b *testing.B) {
	for b.Loop() {
		if _, err := jwe.NewKeyring([]string{secretOne}, salt); err != nil {
			b.Fatal(err)
		}
	}
}
