package profiletext_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/profiletext"
)

// TestTexts checks what remains of each text.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		of      func(string) string
		text    string
		want    string
		limit   int
		tooLong string // the result for a text that is too long by one byte
	}{
		{"name", profiletext.Name, "Ada\nLovelace", "Ada Lovelace", 1000, strings.Repeat("x", 1000)},
		{"image", profiletext.Image, "https://a.test/\n1.png", "https://a.test/1.png", 16384, ""},
		{"label", profiletext.Label, "ada\nl", "ada l", 254, ""},
		{"acr", profiletext.ACR, "phr\x00", "", 80, ""},
		{"address", profiletext.Address, "Ada@Example.COM", "ada@example.com", 0, ""},
		{"invalid address", profiletext.Address, "ada@example.com,eve@example.com", "", 0, ""},
		{"malformed address", profiletext.Address, "ada\ufffe@example.com", "", 0, ""},
	} {
		if got := row.of(row.text); got != row.want {
			t.Errorf("%s: %q", row.name, got)
		}
		if row.limit == 0 {
			continue
		}
		if full := strings.Repeat("x", row.limit); row.of(full) != full || row.of(full+"x") != row.tooLong {
			t.Errorf("%s: the limit is not %d", row.name, row.limit)
		}
	}
	if got := profiletext.Name(strings.Repeat("x", 999) + "é"); got != strings.Repeat("x", 999) {
		t.Error("half of a character:", got[990:])
	}
}

// TestCheckID checks which IDs identify an account.
func TestCheckID(t *testing.T) {
	t.Parallel()
	for id, valid := range map[string]bool{
		"1": true, "nullable": true, "": false, "undefined": false, "null": false, "a\x00": false, "a\xff": false,
	} {
		if err := profiletext.CheckID(id); (err == nil) != valid {
			t.Errorf("%q: %v", id, err)
		}
	}
}
