package keyvalue

import (
	"strings"
	"testing"
)

// TestKeysOfTexts checks that different texts have different keys, that no key contains the separator of another, and
// that all keys are short.
func TestKeysOfTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", longest+1)
	texts := []string{
		"", "%", "%25", "%2F", "/", "a/b", "a%2Fb", "a%2fb", "~", "~a", "%7Ea", "%7E", "a~", "\x01", "%01", "\n", "%0A",
		" ", "%20", "\x7f", "a b", "ä", "A", "a", "..", ".", "*", "[a]", long, long + "y", strings.Repeat("x", longest),
		escaped(long),
	}
	seen := map[string]string{}
	for _, text := range texts {
		part := escaped(text)
		if other, there := seen[part]; there {
			t.Errorf("%.40q and %.40q are both %q", text, other, part)
		}
		seen[part] = text
		syntax := strings.ContainsFunc(part, func(r rune) bool { return r <= ' ' || r == '/' })
		if part == "" || len(part) > 3*longest || syntax {
			t.Errorf("%.40q is %q", text, part)
		}
		if got, ok := unescaped(part); ok != (len(text) <= longest) || ok && got != text {
			t.Errorf("%q is read as %q, %v", part, got, ok)
		}
	}
}
