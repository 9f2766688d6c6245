package sessionid

import (
	"strings"
	"testing"
)

// TestParse checks that only the canonical encoding of a session ID is accepted.
func TestParse(t *testing.T) {
	t.Parallel()
	id := Of("a token").String()
	for text, good := range map[string]bool{
		id: true, "": false, id[:21]: false, id[:20]: false, id + "A": false, id + "=": false, " " + id: false,
		id[:21] + "/": false, strings.Repeat("A", 43): false,
		id[:21] + string(id[21]+1): false, // the unused bits of the last character
	} {
		if _, ok := Parse(text); ok != good {
			t.Errorf("%q is an ID: %t", text, ok)
		}
	}
}
