package ascii_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/ascii"
)

// TestBytes tests all byte values.
func TestBytes(t *testing.T) {
	t.Parallel()
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for i := range 256 {
		c := byte(i)
		if want := strings.IndexByte(letters+strings.ToUpper(letters)+"0123456789", c) >= 0; ascii.IsAlnum(c) != want {
			t.Errorf("IsAlnum(%q) is %t", c, !want)
		}
		want := -1
		if v, err := strconv.ParseUint(string(c), 16, 8); err == nil {
			want = int(v)
		}
		if got := ascii.Unhex(c); got != want {
			t.Errorf("Unhex(%q) = %d, want %d", c, got, want)
		}
		if got, want := string(ascii.AppendPercent([]byte("x"), c)), fmt.Sprintf("x%%%02X", c); got != want {
			t.Errorf("AppendPercent(%q) = %q, want %q", c, got, want)
		}
	}
}

func TestLower(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"lower", "app.example", "app.example"},
		{"upper", "APP.Example", "app.example"},
		{"first and last", "AppZ", "appz"},
		{"neighbours of the letters", "@[`{", "@[`{"},
		{"Kelvin sign", "\u212a", "\u212a"},
		{"other letters", "aÄÖ", "aÄÖ"},
		{"no UTF-8", "A\xff\xc0", "a\xff\xc0"},
	}
	for _, row := range rows {
		if got := ascii.Lower(row.in); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestLead: a byte that is not in the set ends the prefix at any position.
func TestLead(t *testing.T) {
	t.Parallel()
	digits := ascii.SetOf(func(c byte) bool { return '0' <= c && c <= '9' })
	for length := range 40 {
		text := strings.Repeat("7", length)
		if n := digits.Lead(text); n != length {
			t.Errorf("%d digits: %d", length, n)
		}
		for at := range length {
			for _, c := range []string{"x", "\x00", "\xff"} {
				if n := digits.Lead(text[:at] + c + text[at+1:]); n != at {
					t.Errorf("%q at %d of %d: %d", c, at, length, n)
				}
			}
		}
	}
}
