package sqlite_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/storage/sql/sqltest"
)

// TestCleaningInBatches stops with its context between two of them.
func TestCleaningInBatches(t *testing.T) {
	sqltest.Cleaning(t, open(t, file(t)), storetest.NewCountdown)
}
