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

// TestOpenAgain: a cached result is used only by the same Keyring for the same token.
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

// TestRemembered: a token that is used twice is cached, and not decrypted again.
func TestRemembered(t *testing.T) {
	k, seal := remembering(t, "one", "cookie")
	m := newCache(1)
	kept := m.slots[0].entry.Load
	open := func(token, want string) {
		t.Helper()
		if payload, err := m.open(k, token); payload != want || err != nil {
			t.Fatalf("%q, %v", payload, err)
		}
	}
	buffer := []byte(seal("claims"))
	token := unsafe.String(&buffer[0], len(buffer)) // like the memory of a server that reuses it
	if open(token, "claims"); kept() != nil {
		t.Error("a token that was used once is cached")
	}
	if open(token, "claims"); kept() == nil {
		t.Fatal("a token that was used twice is not cached")
	}
	if n := testing.AllocsPerRun(10, func() { open(token, "claims") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	copy(buffer, strings.Repeat("A", len(buffer)))
	if o := kept(); !strings.HasPrefix(o.token, "ey") {
		t.Error("the entry refers to the memory of the server instead of a copy")
	}

	o := kept()
	for name, is := range map[string]bool{
		"another Keyring":                  o.is(o.by+1, o.hash, o.token),
		"another hash":                     o.is(o.by, o.hash+1, o.token),
		"another token that has this hash": o.is(o.by, o.hash, strings.ToLower(o.token)),
		"a shorter one that has this hash": o.is(o.by, o.hash, o.token[1:]),
	} {
		if is {
			t.Errorf("%s is taken for it", name)
		}
	}

	next := seal("next")
	open(next, "next")
	if open(next, "next"); kept().payload != "next" {
		t.Error("the next token does not take the place")
	}
	long := seal(strings.Repeat("x", maxRemembered))
	for range 3 {
		open(long, strings.Repeat("x", maxRemembered))
	}
	if kept().payload != "next" {
		t.Error("a long token is remembered")
	}
}

// TestOpenAgainAtOnce has concurrent requests to two applications that use the same slot.
func TestOpenAgainAtOnce(t *testing.T) {
	t.Parallel()
	m := newCache(1)
	var all sync.WaitGroup
	for _, name := range []string{"Ada", "Grace", "Edsger", "Barbara"} {
		k, seal := remembering(t, "secret of "+name, "cookie")
		token := seal(name)
		all.Go(func() {
			for range 500 {
				if payload, err := m.open(k, token); payload != name || err != nil {
					t.Errorf("%q, %v in place of %s", payload, err, name)
				}
			}
		})
	}
	all.Wait()
}
