package knownbrowser_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/knownbrowser"
)

func TestBrowser(t *testing.T) {
	t.Parallel()
	b := knownbrowser.Browser{ID: "id"}
	if b.Knows("ada") || b.Knows("") {
		t.Error("a new browser knows a name")
	}
	b.Remember([]string{"ada", "ada@example.com", "", "ada"})
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
		b.Remember([]string{"user " + strconv.Itoa(i)})
	}
	if b.Remember([]string{"ada", "2"}); !b.Knows("ada") || !b.Knows("2") || len(b.People) != 8 {
		t.Errorf("the user is there twice: %d entries", len(b.People))
	}
	if b.Remember([]string{"one more"}); len(b.People) != 8 || b.Knows("user 0") || !b.Knows("user 1") {
		t.Errorf("%d entries", len(b.People))
	}
}
