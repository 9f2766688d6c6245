package forminput_test

import (
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/internal/forminput"
)

// TestNames finds the user names in forms.
func TestNames(t *testing.T) {
	t.Parallel()
	usual := map[string]string{"email": "", "username": " Ada ", "name": "ADA", "login": "Grace"}
	three := map[string]string{"email": "a@x.test", "username": "ada", "name": "grace"}
	for name, c := range map[string]struct {
		form       map[string]string
		identifier string
		declared   bool
		typed      string
		others     []string
	}{
		"the identifier":              {usual, "login", true, "grace", nil},
		"an empty identifier field":   {map[string]string{"email": "a@x.test"}, "login", true, "", nil},
		"the first that is not empty": {usual, "", false, "ada", nil},
		"all usual fields":            {three, "", false, "a@x.test", []string{"ada", "grace"}},
		"declared secrets":            {three, "", true, "a@x.test", nil},
		"none":                        {map[string]string{"password": "x"}, "", false, "", nil},
	} {
		typed, others := forminput.Names(c.form, c.identifier, c.declared)
		if typed != c.typed || !slices.Equal(others, c.others) {
			t.Errorf("%s: Names = %q and %q, want %q and %q", name, typed, others, c.typed, c.others)
		}
	}
}
