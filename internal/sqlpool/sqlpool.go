// Package sqlpool connects the stores in storage/sql with connection pools that they call for lookups without their
// *sql.DB.
package sqlpool

import "context"

// Pool runs read-only queries outside of transactions. If Query is nil, the store's *sql.DB runs them.
type Pool struct {
	// Query runs a query. Its errors must be those of the store's *sql.DB.
	Query func(ctx context.Context, query string, args []any) (Rows, error)
	// Lookups is the maximum number of concurrent queries for session lookups. Lookups that wait are combined into one
	// query. Zero disables that: each lookup is one query.
	Lookups int
	// Lateral is set if the database should find each session's user with a LATERAL subquery when it combines lookups,
	// because with a join it would scan a small users table.
	Lateral bool
}

// Rows are the rows of a query, with the semantics of [database/sql.Rows]. Destinations are pointers to strings,
// integers and booleans, and [database/sql.Scanner]. Two optional methods of a destination may be called instead of
// Scan: ScanText(text []byte) for a text column, with nil for null, which must copy the text; and ScanTime(at
// time.Time) for a time column, with the zero time for null.
type Rows interface {
	Next() bool
	Scan(into ...any) error
	Err() error
	Close() error
}
