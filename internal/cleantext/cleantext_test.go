package cleantext_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/cleantext"
)

// TestLine checks which characters are removed.
func TestLine(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		to   rune
		want string
	}{
		{"Ada Lovelace", ' ', "Ada Lovelace"}, {"Ada\nLovelace\t", ' ', "Ada Lovelace"}, {"a\nb", -1, "ab"},
		{"a\x00\x1b[31mb", ' ', "a[31mb"}, {"a\xffb", ' ', "a\ufffdb"}, {"Zoë 日本", ' ', "Zoë 日本"},
	} {
		if got := cleantext.Line(row.text, row.to); got != row.want {
			t.Errorf("%q becomes %q", row.text, got)
		}
	}
}

// TestEscaped checks that a text cannot break a log line, and is cut at a complete escape.
func TestEscaped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Mozilla/5.0": "Mozilla/5.0", "a\nb": `a\nb`, "a\"\\b": `a\"\\b`, "\x1b": `\x1b`, "é": `\xc3\xa9`,
		strings.Repeat("x", 300): strings.Repeat("x", 256), strings.Repeat("\x01", 300): strings.Repeat(`\x01`, 64),
	} {
		if got := cleantext.Escaped(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
