package observetest_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/observetest"
	"github.com/latchkey-go/latchkey/core"
)

// The body of a test for an observer of an Auth: its output must not contain anything that Drive returns.
func ExampleDrive() {
	_ = func(t *testing.T, store core.Store, wrap func(core.Config) core.Config, told func() string) {
		for _, secret := range observetest.Drive(t.Context(), t, store, wrap) {
			if strings.Contains(told(), secret) {
				t.Errorf("%q is told", secret)
			}
		}
	}
}
