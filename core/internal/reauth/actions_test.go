package reauth_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/reauth"
	"github.com/latchkey-go/latchkey/internal/profiletext"
)

// TestParseACR splits lists of authentication context class references.
func TestParseACR(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("a", profiletext.MaxACR)
	most := strings.Fields(strings.Repeat("x ", reauth.MaxACRs))
	for list, want := range map[string][]string{
		"":                             nil,
		" urn:gold  urn:silver ":       {"urn:gold", "urn:silver"},
		"~! " + longest:                {"~!", longest},
		strings.Join(most, " "):        most,
		strings.Join(most, " ") + " y": nil,
		longest + "a":                  nil,
		`urn:gold urn:"`:               nil,
		`urn:\\gold`:                   nil,
		"urn:gold\x00":                 nil,
		"urn:gold\x7f":                 nil,
		"urn:g\u00f6ld":                nil,
	} {
		if got := reauth.ParseACR(list); !slices.Equal(got, want) {
			t.Errorf("ParseACR(%q) = %q, want %q", list, got, want)
		}
	}
}
