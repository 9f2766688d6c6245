package mysql_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/storage/sql/sqltest"
)

// TestCleaningInBatches ends the context between two batches.
func TestCleaningInBatches(t *testing.T) {
	sqltest.Cleaning(t, open(t, database(t)), storetest.NewCountdown)
}

// TestTransactionsAreBegunAgain checks that transactions run again after the database has aborted them.
func TestTransactionsAreBegunAgain(t *testing.T) { sqltest.Deadlock(t, open(t, database(t))) }
