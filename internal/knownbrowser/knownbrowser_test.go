package knownbrowser_test

import (
	"crypto/rand"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/latchkey-go/latchkey/internal/knownbrowser"
)

// remember calls Remember for a browser that has an ID, and returns whether it succeeded.
func remember(b *knownbrowser.Browser, names ...string) bool { return b.Remember(nil, names) == nil }

func TestBrowser(t *testing.T) {
	t.Parallel()
	b := knownbrowser.Browser{ID: "id"}
	if b.Knows("ada") || b.Knows("") {
		t.Error("a new browser knows a name")
	}
	remember(&b, "ada", "ada@example.com", "", " ", "ada")
	for name, known := range map[string]bool{"ada": true, "ada@example.com": true, "eve": false, "àda": false, "": false} {
		if b.Knows(name) != known {
			t.Errorf("%q is known: %t", name, !known)
		}
	}
	if len(b.People) != 1 || strings.Count(b.People[0], ".") != 1 || strings.Contains(b.People[0], "ada") {
		t.Errorf("the cookie contains %q", b.People)
	}
	other := knownbrowser.Browser{ID: "other", People: b.People}
	if other.Knows("ada") {
		t.Error("another browser knows the name")
	}
	for i := range 7 {
		remember(&b, "user "+strconv.Itoa(i))
	}
	if !remember(&b, "ada", "2") || !b.Knows("ada") || !b.Knows("2") || len(b.People) != 8 {
		t.Errorf("the user is there twice: %d entries", len(b.People))
	}
	if !remember(&b, "one more") || len(b.People) != 8 || b.Knows("user 0") || !b.Knows("user 1") {
		t.Errorf("%d entries", len(b.People))
	}
}

// TestNewBrowser checks that a browser gets an ID once, and that names are compared in their canonical form.
func TestNewBrowser(t *testing.T) {
	t.Parallel()
	var b knownbrowser.Browser
	if err := b.Remember(iotest.ErrReader(io.ErrUnexpectedEOF), []string{"ada"}); err == nil || len(b.People) > 0 {
		t.Error("an ID that is not random", err)
	}
	if err := b.Remember(rand.Reader, []string{" Ada@Example.com"}); err != nil || len(b.ID) != 32 {
		t.Error(b.ID, err)
	}
	id := b.ID
	if err := b.Remember(rand.Reader, []string{"eve"}); err != nil || b.ID != id || !b.Knows("ada@example.com") {
		t.Error(b, err)
	}
}
