package core_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestErrorsAreOfTheBaseClass asks by errors.Is for the class of an error and for AuthError, the base of all classes
// (docs/protocol.md §11.1).
func TestErrorsAreOfTheBaseClass(t *testing.T) {
	t.Parallel()
	denied := core.NewError(core.ErrAccessDenied, errors.New("no"))
	_, config := core.New(core.Config{Getenv: func(string) string { return "" }})
	for name, row := range map[string]struct {
		err, target error
		is          bool
	}{
		"its class":                  {denied, core.ErrAccessDenied, true},
		"another class":              {denied, core.ErrVerification, false},
		"the base class":             {denied, core.ErrAuth, true},
		"the base class, wrapped":    {fmt.Errorf("page: %w", denied), core.ErrAuth, true},
		"a class itself":             {core.ErrAccessDenied, core.ErrAuth, true},
		"a class and another":        {core.ErrAccessDenied, core.ErrVerification, false},
		"the base and a class":       {core.ErrAuth, core.ErrAccessDenied, false},
		"faults of a configuration":  {config, core.ErrAuth, true},
		"the fault of one":           {config, core.ErrMissingSecret, true},
		"an error that is not ours":  {errors.New("no"), core.ErrAuth, false},
		"what stores say of absence": {core.ErrNotFound, core.ErrAuth, false},
	} {
		if errors.Is(row.err, row.target) != row.is {
			t.Errorf("%s: errors.Is(%v, %v) is %v", name, row.err, row.target, !row.is)
		}
	}
}
