package mysql_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/internal/sqltest"
)

// TestCleaningInBatches ends the context between two batches.
func TestCleaningInBatches(t *testing.T) {
	sqltest.Cleaning(t, open(t, engines.MariaDBDatabase(t)))
}

// TestTransactionsAreBegunAgain checks that transactions run again after the database has aborted them.
func TestTransactionsAreBegunAgain(t *testing.T) {
	sqltest.Deadlock(t, open(t, engines.MariaDBDatabase(t)))
}
