package jwe

import (
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

func remembering(t testing.TB, secret, salt string) (k *Keyring, seal func(payload string) string) {
	t.Helper()
	k, err := NewKeyring([]string{secret}, salt)
	if err != nil {
		t.Fatal(err)
	}
	return k, func(payload string) string {
		var iv IV
		rand.Read(iv[:])
		token, err := k.Seal(iv, []byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
}

// TestOpenAgain: a cached result is used only by the Keyring that decrypted the token, and only for that token.
func TestOpenAgain(t *testing.T) {
	t.Parallel()
	k, seal := remembering(t, "one", "cookie")
	otherSecret, _ := remembering(t, "two", "cookie")
	otherSalt, _ := remembering(t, "one", "biscuit")
	token := seal("claims")
	last := token[:len(token)-1]
	changed := last + string(token[len(token)-1]^1)
	for range 4 {
		if payload, err := k.OpenAgain(token); payload != "claims" || err != nil {
			t.Fatalf("%q, %v", payload, err)
		}
		for name, attempt := range map[string]func() (string, error){
			"another secret": func() (string, error) { return otherSecret.OpenAgain(token) },
			"another salt":   func() (string, error) { return otherSalt.OpenAgain(token) },
			"a byte changed": func() (string, error) { return k.OpenAgain(changed) },
			"a byte less":    func() (string, error) { return k.OpenAgain(last) },
			"a byte more":    func() (string, error) { return k.OpenAgain(token + "A") },
			"nothing":        func() (string, error) { return k.OpenAgain("") },
		} {
			if payload, err := attempt(); payload != "" || !errors.Is(err, ErrInvalid) {
				t.Errorf("%s: %q, %v", name, payload, err)
			}
		}
	}
}

// TestCached: a token that is used twice is cached, and not decrypted again.
func TestCached(t *testing.T) {
	k, seal := remembering(t, "one", "cookie")
	buffer := []byte(seal("claims"))
	token := unsafe.String(&buffer[0], len(buffer)) // like the memory of a server that reuses it
	_, slot := k.recent.slot(token)
	open := func(token, want string) {
		t.Helper()
		if payload, err := k.OpenAgain(token); payload != want || err != nil {
			t.Fatalf("%q, %v", payload, err)
		}
	}
	if open(token, "claims"); slot.entry.Load() != nil {
		t.Error("a token that was used once is cached")
	}
	if open(token, "claims"); slot.entry.Load() == nil {
		t.Fatal("a token that was used twice is not cached")
	}
	if n := testing.AllocsPerRun(10, func() { open(token, "claims") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	copy(buffer, strings.Repeat("A", len(buffer)))
	e := slot.entry.Load()
	if !strings.HasPrefix(e.token, "ey") {
		t.Error("the entry refers to the memory of the server instead of a copy")
	}
	for name, is := range map[string]bool{
		"another hash":                     e.is(e.hash+1, e.token),
		"another token that has this hash": e.is(e.hash, strings.ToLower(e.token)),
		"a shorter one that has this hash": e.is(e.hash, e.token[1:]),
	} {
		if is {
			t.Errorf("%s is taken for it", name)
		}
	}

	long := seal(strings.Repeat("x", maxCached))
	_, slot = k.recent.slot(long)
	for range 3 {
		open(long, strings.Repeat("x", maxCached))
	}
	if slot.entry.Load() != nil {
		t.Error("a long token is cached")
	}
}

// TestSlotIsReplaced: a token replaces the previous one in its slot.
func TestSlotIsReplaced(t *testing.T) {
	t.Parallel()
	k, seal := remembering(t, "one", "cookie")
	_, first := k.recent.slot(seal("first"))
	token := ""
	for slot := (*cacheSlot)(nil); slot != first; {
		token = seal("next")
		_, slot = k.recent.slot(token)
	}
	first.entry.Store(&cacheEntry{token: "first", payload: "first"})
	for range 2 {
		if payload, err := k.OpenAgain(token); payload != "next" || err != nil {
			t.Fatalf("%q, %v", payload, err)
		}
	}
	if e := first.entry.Load(); e.payload != "next" {
		t.Error("the next token does not take the place")
	}
}

// TestCacheConcurrently has concurrent requests with several tokens.
func TestCacheConcurrently(t *testing.T) {
	t.Parallel()
	k, seal := remembering(t, "one", "cookie")
	var all sync.WaitGroup
	for _, name := range []string{"Ada", "Grace", "Edsger", "Barbara"} {
		token := seal(name)
		all.Go(func() {
			for range 500 {
				if payload, err := k.OpenAgain(token); payload != name || err != nil {
					t.Errorf("%q, %v in place of %s", payload, err, name)
				}
			}
		})
	}
	all.Wait()
}
