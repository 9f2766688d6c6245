package sqlstore

import (
	"database/sql"
	"sync/atomic"

	"github.com/latchkey-go/latchkey/core/store/batch"
)

// engine is what a Store shares with the Stores of its transactions.
type engine struct {
	db      *sql.DB
	owned   bool // Close closes db
	dialect Dialect
	layout  Layout
	statements
	writtenAs atomic.Int64          // the Times that FoundTimes stands for
	lookUps   *batch.Calls[*lookUp] // nil: each asks by itself
	collated  atomic.Bool           // Migrate has checked the collation
	writing   chan struct{}         // holds one value while a call writes; nil when writers need not wait for each other
}
