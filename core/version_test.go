package core_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

func TestVersionString(t *testing.T) {
	t.Parallel()
	for _, v := range []core.VersionString{core.Version, "v1", "v1.2", "v1.2.3", "v10.0.11"} {
		if !v.Valid() {
			t.Errorf("%q is none", v)
		}
	}
	for _, v := range []core.VersionString{"", "1", "v", "v1.", "v1.2.3.4", "v01", "v1.2.3-rc1", "V1", "v1\n"} {
		if v.Valid() {
			t.Errorf("%q is one", v)
		}
	}
}
