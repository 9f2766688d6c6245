package keyvalue_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/kvtest"
	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) core.Store { return keyvalue.New("memory", newEngine()) })
	t.Logf("keyvalue: %d cases", storetest.Count())
}

func TestShared(t *testing.T) {
	kvtest.Run(t, storetest.Trouble("memory"), func(*testing.T) kvtest.Store {
		return keyvalue.New("memory", newEngine())
	})
}

func TestSealed(t *testing.T) { dbtest.Sealed(t, (*keyvalue.Store)(nil)) }
