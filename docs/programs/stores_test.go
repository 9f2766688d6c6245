package mystore_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/memory" // replace it with your own package
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) core.Store { return memory.New() })
}
