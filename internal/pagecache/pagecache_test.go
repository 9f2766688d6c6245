package pagecache

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"
)

// TestPage checks that a page is rendered once, and that each visit gets a separate copy with its nonce and token in
// every place. The placeholders have the lengths of the real values.
func TestPage(t *testing.T) {
	t.Parallel()
	c, draws := Cache{Languages: 1}, 0
	read := func(key Key, nonce, token string) []byte {
		page, err := c.Page(key, rand.Reader, nonce, token, func(nonceMark, tokenMark string) ([]byte, error) {
			if draws++; len(nonceMark) != len(nonce) || len(tokenMark) != len(token) || nonceMark == nonce {
				t.Errorf("placeholders %q, %q", nonceMark, tokenMark)
			}
			return []byte("<s " + nonceMark + ">" + tokenMark + "<f " + tokenMark + "><p " + nonceMark + ">"), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	first := read(Key{}, "nonce1", "token01")
	for i := range first {
		first[i] = 'x'
	}
	if got, want := string(read(Key{}, "nonce2", "token02")), "<s nonce2>token02<f token02><p nonce2>"; got != want {
		t.Errorf("the next visit has %q, want %q", got, want)
	}
	if read(Key{Language: "de"}, "nonce1", "token01"); draws != 2 {
		t.Errorf("two pages were rendered %d times", draws)
	}
}

// TestPageFails checks that a page which could not be rendered is not cached.
func TestPageFails(t *testing.T) {
	t.Parallel()
	var c Cache
	failed := errors.New("failed")
	_, err := c.Page(Key{}, rand.Reader, "n", "t", func(string, string) ([]byte, error) { return []byte("half"), failed })
	if !errors.Is(err, failed) || len(c.all) != 0 {
		t.Errorf("%v, %d pages", err, len(c.all))
	}
	_, err = c.Page(Key{}, strings.NewReader(""), "nonce", "token", func(string, string) ([]byte, error) {
		t.Error("rendered without random placeholders")
		return nil, nil
	})
	if err == nil {
		t.Error("no error without random bytes")
	}
}

// TestCacheIsBounded: a client that invents origins cannot grow the cache.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	c := Cache{Languages: 2}
	text := newPage([]byte("page"), "NN", "TTT")
	for i := range 100 {
		c.keep(Key{Origin: string(rune('a' + i))}, text)
	}
	if c.find(Key{Origin: "a"}) != text || c.find(Key{Origin: "b"}) != text || len(c.all) != 2*maxCachedPages {
		t.Errorf("%d pages", len(c.all))
	}
}
