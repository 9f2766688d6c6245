package wellknown_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/wellknown"
)

func TestIsName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"change-password": true, "keys.json": true, "a1": true, "": false, ".": false, "..": false, "a/b": false, "A": false,
		"a b": false,
	} {
		if got := wellknown.IsName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/.well-known/webauthn": "webauthn", "/.well-known/webauthn?a=b": "webauthn", "/.well-known/a/b": "a/b",
		"/auth/.well-known/webauthn": "", "/.well-knownx": "", "/": "",
	} {
		if got, ok := wellknown.Name(target); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", target, got, ok)
		}
	}
}

func TestTag(t *testing.T) {
	t.Parallel()
	tag, same := wellknown.Tag([]byte("a"), nil)
	if len(tag) != 24 || same {
		t.Errorf("%s, %v", tag, same)
	}
	if _, same := wellknown.Tag([]byte("a"), []string{`"x", W/` + tag}); !same {
		t.Error("the tag of the document is not found")
	}
	if other, same := wellknown.Tag([]byte("b"), []string{tag}); same || other == tag {
		t.Error("two documents have the same tag")
	}
}
