package memory_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/memory"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) core.Store { return memory.New() })
	t.Logf("memory: %d cases", storetest.Count())
}

func TestSealed(t *testing.T) { storetest.Sealed(t, (*memory.Store)(nil)) }
