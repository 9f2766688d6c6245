package mysql_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/storage/sql/sqltest"
)

// TestCleaningInBatches stops with its context between two of them.
func TestCleaningInBatches(t *testing.T) {
	sqltest.Cleaning(t, open(t, database(t)), storetest.NewCountdown)
}

// TestTransactionsAreBegunAgain when the engine undid them.
func TestTransactionsAreBegunAgain(t *testing.T) { sqltest.Deadlock(t, open(t, database(t))) }
