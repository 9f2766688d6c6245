package storetest_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
)

// open makes an empty store of yours.
func open(t *testing.T) core.Store {
	t.Helper()
	return nil
}

// The body of a test in the module of a store.
func ExampleRun() {
	_ = func(t *testing.T) { // func TestStore(t *testing.T)
		storetest.Run(t, open)
	}
}
