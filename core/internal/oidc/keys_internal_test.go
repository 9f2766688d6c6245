package oidc

import (
	"crypto/rsa"
	"math/big"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

func TestSizesOfRSAKeys(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		bits uint
		e    int
		ok   bool
	}{
		{"smallest", 2048, 65537, true},
		{"largest", 8192, 3, true},
		{"crypto/rsa would take it", 1024, 65537, false},
		{"a bit too small", 2047, 65537, false},
		{"a bit too large", 8193, 65537, false},
		{"huge", 1 << 20, 65537, false},
		{"exponent that signs nothing", 2048, 1, false},
		{"exponent that is a burden", 2048, 1 << 31, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := new(big.Int).Lsh(big.NewInt(1), row.bits-1)
			n.SetBit(n, 0, 1)
			if got := usable(&jose.JSONWebKey{Key: &rsa.PublicKey{N: n, E: row.e}}); got != row.ok {
				t.Errorf("usable: %v", got)
			}
		})
	}
}
