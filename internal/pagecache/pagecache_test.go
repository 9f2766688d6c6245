package pagecache

import "testing"

// TestPage checks that each visit gets a separate page with its nonce and token in every place.
func TestPage(t *testing.T) {
	t.Parallel()
	kept := New([]byte("<s NN>TTT<f TTT><p NN>"), "NN", "TTT")
	first := kept.For("aa", "111")
	for i := range first {
		first[i] = 'x'
	}
	if got, want := string(kept.For("bb", "222")), "<s bb>222<f 222><p bb>"; got != want {
		t.Errorf("the next visit has %q, want %q", got, want)
	}
}

// TestCacheIsBounded: a client that invents origins cannot grow the cache.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	c := Cache{Languages: 2}
	page := New([]byte("page"), "NN", "TTT")
	for i := range 100 {
		c.Keep(Key{Origin: string(rune('a' + i))}, page)
	}
	if c.Find(Key{Origin: "a"}) != page || c.Find(Key{Origin: "b"}) != page || len(c.all) != 2*maxCachedPages {
		t.Errorf("%d pages", len(c.all))
	}
}
