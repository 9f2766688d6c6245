package core

import "testing"

// TestKeptPage checks that each visit gets a separate page with its nonce and token in every place.
func TestKeptPage(t *testing.T) {
	t.Parallel()
	kept := newKeptPage([]byte("<s NN>TTT<f TTT><p NN>"), "NN", "TTT")
	first := kept.forVisit("aa", "111")
	for i := range first {
		first[i] = 'x'
	}
	if got, want := string(kept.forVisit("bb", "222")), "<s bb>222<f 222><p bb>"; got != want {
		t.Errorf("the next visit has %q, want %q", got, want)
	}
}
