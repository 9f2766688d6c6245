package sqlstore

import (
	"context"
	"database/sql"
	"time"
)

// Dialect describes a database and its driver. A function is required unless its comment says what nil means. All
// functions must be safe for concurrent use.
type Dialect struct {
	// Name is the prefix of every error, for example "sqlite".
	Name string
	// Placeholder returns the placeholder for the n-th value of a statement. n starts at 1.
	Placeholder func(n int) string
	// Quote quotes the name of a table or column.
	Quote func(name string) string
	// Types are the SQL types of columns.
	Types Types
	// TableSuffix is appended to every CREATE TABLE.
	TableSuffix string

	// Exact returns a condition that is added to column = value to make the comparison byte-exact. Nil means that the
	// comparison already is.
	Exact func(column, value string) string
	// BinaryOrder returns the expression that compares and sorts a text column by bytes. Nil means the column itself.
	BinaryOrder func(column string) string
	// Bytewise returns a query that returns true if a text column is sorted by bytes. Otherwise ListUsersByEmail returns
	// [store.ErrUnsupported]. Nil means that every column is. table and column are quoted.
	Bytewise func(table, column string) string
	// IntegerID casts a value to the type of [IntegerIDs], for a database that would infer a smaller integer type. Nil
	// means that no cast is needed.
	IntegerID func(value string) string
	// EncodeTime converts a time to the database's own type. It returns an error if that type cannot represent the time.
	EncodeTime func(t time.Time) (any, error)
	// DecodeTime converts a value from the driver to a time in UTC.
	DecodeTime func(value any) (time.Time, error)
	// ReadTime returns the expression that selects a time column. Nil selects the column by its name.
	ReadTime func(column string) string
	// TypeOf returns an expression that evaluates to "integer" or "text", for a database whose columns can contain both
	// and that sorts texts after integers. Nil means that a column contains only its declared type.
	TypeOf func(column string) string
	// TextTime returns an expression for the time in a text, in UTC as "2006-01-02T15:04:05.000", or null if the text is
	// no time. It is required with TypeOf.
	TextTime func(column string) string
	// Now is an expression for the current time in UTC, in the form of an UpdatedAt column. NowText is the same in the
	// form of OffsetTimes. NowText is required with TypeOf.
	Now, NowText string

	// Among returns a condition for rows that a subquery on the same table selects. from is the rest of the subquery, and
	// keys is the primary key. Nil means that DELETE supports ORDER BY and LIMIT.
	Among func(keys, from string) string
	// Lingering is set if an index contains deleted rows until the database vacuums. Each batch of DeleteExpired then
	// starts where the previous one ended, so that it does not read all deleted entries again. Lingering requires Among
	// and Returning.
	Lingering bool
	// Returning is set if DELETE and INSERT support RETURNING. Without it, SELECT must support FOR UPDATE.
	Returning bool
	// DriverPrepares is set if the driver caches prepared statements. The store then prepares none.
	DriverPrepares bool
	// ChangedRows is set if an update may report only the rows that it changed, not all rows that it matched.
	ChangedRows bool
	// OneWriter is set for a database that allows one writer at a time. Writers of one Store then wait for each other in
	// the process and not in the database: waiting is fair and ends with the context.
	OneWriter bool
	// Begin is a statement that every transaction runs first. %s is the quoted name of the users table. The default is
	// none.
	Begin string

	// AfterBatch is a statement that DeleteExpired runs after each batch, when others may write again. It does work that
	// the database would otherwise do while a writer waits. Its errors are ignored. The default is none.
	AfterBatch string

	// Conflict, NoParent and Retry classify errors of the driver: a violated unique key, a violated foreign key, and a
	// failure after which the statement can be retried, because it had no effect: for example a deadlock.
	Conflict, NoParent, Retry func(err error) bool
	// Missing reports whether an error of the driver means that a table or column does not exist.
	Missing func(err error) bool
	// Busy reports whether an error of the driver means that another process holds the lock. Nil means that the database
	// waits for locks itself.
	Busy func(err error) bool
	// Unavailable reports whether an error of the driver means that the database accepts no connections at the moment: it
	// starts or stops, or its connections are exhausted. If it is nil, no error does. Regardless of Unavailable, broken
	// connections and errors that Retry or Busy reports count as unavailable too.
	Unavailable func(err error) bool
	// Incomparable reports whether an error of the driver means that a text has characters that a column cannot contain.
	// If it is nil, no error does.
	Incomparable func(err error) bool
	// Repeats reports whether the message of a driver error may contain a value, in any encoding. If it is nil, the
	// message is searched for the values.
	Repeats func(err error) bool

	// Migrating runs do on conn while no other process does, in a transaction if the database supports DDL in
	// transactions.
	Migrating func(ctx context.Context, conn *sql.Conn, do func() error) error
	// Schema is a query for the columns and indexes of tables. Its result columns are the name of the table, the name of
	// the index ('' for a column of the table), whether the index is unique for all rows, the name of the column, and its
	// position, in the order of these. %s is a query for the names of the tables, in a column called name.
	Schema string
}
