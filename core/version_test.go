package core_test

import (
	"regexp"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	const number = `(0|[1-9][0-9]*)`
	if form := regexp.MustCompile(`^v` + number + `\.` + number + `\.` + number + `$`); !form.MatchString(core.Version) {
		t.Errorf("%q is none", core.Version)
	}
}
