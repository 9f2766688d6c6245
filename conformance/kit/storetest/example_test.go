package storetest_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
)

// open returns an empty store.
func open(t *testing.T) core.Store {
	t.Helper()
	return nil
}

// The body of a test in a store's module.
func ExampleRun() {
	_ = func(t *testing.T) { // func TestStore(t *testing.T)
		storetest.Run(t, open)
	}
}
