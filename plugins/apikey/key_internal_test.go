package apikey

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"
)

// TestToken parses keys that were changed in each way.
func TestToken(t *testing.T) {
	made, err := newToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text := made.text("acme_live")
	if got, ok := parseToken("acme_live", text); !ok || got != made {
		t.Fatalf("%q is parsed as %+v, %t", text, got, ok)
	}
	if len(text) != len("acme_live_")+idLen+1+secretLen+checksumLen {
		t.Errorf("the key has %d characters", len(text))
	}
	other := byte('x')
	if text[15] == other {
		other = 'y'
	}
	for name, changed := range map[string]string{
		"empty":               "",
		"another prefix":      strings.Replace(text, "acme_live", "acme_test", 1),
		"no prefix":           strings.TrimPrefix(text, "acme_live_"),
		"one character":       text[:15] + string(other) + text[16:],
		"cut off":             text[:len(text)-1],
		"longer":              text + "0",
		"a space":             text + " ",
		"no underscore":       strings.Replace(text, "_"+made.secret, "x"+made.secret, 1),
		"another alphabet":    "acme_live_" + strings.Repeat("-", len(text)-len("acme_live_")),
		"two keys":            text + text,
		"the prefix of a key": "acme_live_",
	} {
		if _, ok := parseToken("acme_live", changed); ok {
			t.Errorf("%s: %q is accepted", name, changed)
		}
	}
	if !made.hasHash(bytes.Clone(func() []byte { h := made.hash(); return h[:] }())) || made.hasHash(nil) ||
		made.hasHash(make([]byte, 32)) {
		t.Error("the hash of the secret is not compared")
	}
}

// TestRandomText checks that a source of randomness that fails is an error, and that biased bytes are skipped.
func TestRandomText(t *testing.T) {
	if text, err := randomText(bytes.NewReader([]byte{62, 63, 0, 255, 61, 64}), 3); text != "0z0" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := newToken(bytes.NewReader(nil)); err == nil {
		t.Error("a token without randomness")
	}
}

func FuzzParseToken(f *testing.F) {
	made, _ := newToken(rand.Reader)
	f.Add("lk", made.text("lk"))
	f.Add("acme_live", "acme_live_")
	f.Fuzz(func(t *testing.T, prefix, text string) {
		if got, ok := parseToken(prefix, text); ok && got.text(prefix) != text {
			t.Errorf("%q is parsed as %+v", text, got)
		}
	})
}

// TestScopeNames checks what can be a scope.
func TestScopeNames(t *testing.T) {
	for text, want := range map[string]bool{
		"orders": true, "orders:read": true, "orders:*": true, "*": true, "a.b-c:d1": true,
		"": false, ":": false, "orders:": false, "Orders": false, "a b": false, "a\"b": false, "ordérs": false,
		"orders:r*": false, strings.Repeat("a", 101): false,
	} {
		if isScope(text) != want {
			t.Errorf("isScope(%q) is %t", text, !want)
		}
	}
}
