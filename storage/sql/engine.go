package sqlstore

import (
	"database/sql"
	"sync/atomic"

	"github.com/latchkey-go/latchkey/internal/batch"
	"github.com/latchkey-go/latchkey/internal/sqlpool"
)

// engine is the state that a Store shares with the Stores of its transactions.
type engine struct {
	db      *sql.DB
	owned   bool // Close closes db
	dialect Dialect
	layout  Layout
	types   Types
	pool    *sqlpool.Pool
	statements
	writtenAs atomic.Int64          // the Times value that FoundTimes has resolved to
	lookUps   *batch.Calls[*lookUp] // nil if lookups are not combined
	writing   chan struct{}         // contains a value while a call writes; nil if writers need not wait for each other
}
