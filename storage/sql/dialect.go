package sqlstore

import (
	"context"
	"database/sql"
	"time"
)

// Dialect describes an engine and its driver. All functions without a remark must be set; all must be safe for
// concurrent use.
type Dialect struct {
	// Name begins every error: "sqlite".
	Name string
	// Placeholder is how the n-th value of a statement is written, counted from 1.
	Placeholder func(n int) string
	// Quote writes the name of a table or column.
	Quote func(name string) string
	// Type is the type of a kind of column; the one of Counted includes that it is the primary key.
	Type func(k Kind) string
	// TableSuffix ends every CREATE TABLE.
	TableSuffix string

	// Exact is a condition, beside column = value, that makes the comparison one of bytes; nil: it is one already.
	Exact func(column, value string) string
	// IntegerID converts a value to the type of counted ids where the engine would take it for a smaller one; nil: it need
	// not.
	IntegerID func(value string) string
	// EncodeTime is the value that keeps a time in the engine's own form; an error when the engine cannot keep it.
	EncodeTime func(t time.Time) (any, error)
	// DecodeTime reads what the driver returns for it, in UTC.
	DecodeTime func(value any) (time.Time, error)
	// ReadTime is how a column of such times is selected; nil: by its name.
	ReadTime func(column string) string
	// TypeOf is an expression for "integer" or "text" on an engine whose columns hold both and sort texts after integers;
	// nil: a column holds what its type says.
	TypeOf func(column string) string
	// TextTime is an expression for the time that a text holds, in UTC as "2006-01-02T15:04:05.000", null when it holds
	// none. It is needed with TypeOf.
	TextTime func(column string) string
	// Now is an expression for the current time, in UTC, as a column UpdatedAt keeps it. NowText is the same in the form
	// of OffsetTimes; it is needed with TypeOf.
	Now, NowText string

	// Among is a condition for the rows that a query for some rows of the same table finds, which goes on with from; keys
	// is the primary key. nil: DELETE has ORDER BY and LIMIT.
	Among func(keys, from string) string
	// Lingering says that an index holds rows that are gone until the engine has cleaned up, so that DeleteExpired begins
	// each batch where the one before ended rather than going past all that it has deleted. It needs Among and Returning.
	Lingering bool
	// Returning says that DELETE and INSERT can return what they touched. Where they cannot, SELECT has FOR UPDATE.
	Returning bool
	// DriverPrepares says that the driver keeps prepared statements by itself, so that the store does not.
	DriverPrepares bool
	// ChangedRows says that a handle may count only rows that an update changed, not those that it found.
	ChangedRows bool
	// OneWriter makes writers of one Store wait for each other in the process rather than in the engine, for an engine
	// that has one writer at a time: waiting is then fair and ends with the context.
	OneWriter bool
	// Files is a query for the paths of the files that hold the tables; empty: they are on a server.
	Files string
	// Begin is a statement that begins the work of every transaction; %s is the table of users, quoted. Empty: none.
	Begin string

	// AfterBatch is a statement that DeleteExpired runs after each batch, when others may write again: what the engine
	// would otherwise do while one of them waits. Its failure means nothing. Empty: none.
	AfterBatch string

	// Conflict, NoParent and Retry report whether an error of the driver is a violated unique key, a violated foreign key,
	// or something that undid the statement and may not happen again, such as a deadlock.
	Conflict, NoParent, Retry func(err error) bool
	// Missing reports whether an error of the driver says that a table or column is not there.
	Missing func(err error) bool
	// Busy reports whether an error of the driver says that another process holds the lock; nil: the engine waits by
	// itself.
	Busy func(err error) bool
	// Unavailable reports whether an error of the driver says that the engine takes nobody at the moment: it starts, ends,
	// or has no connection left; nil: none does. Retry, Busy and broken connections count without it.
	Unavailable func(err error) bool
	// Repeats reports whether the message of an error of the driver may repeat a value, in whatever form; nil: it is
	// looked at.
	Repeats func(err error) bool

	// Read runs a query that changes nothing, outside of transactions, where a driver does so with less than database/sql
	// takes; nil: the handle runs it. Errors are those of the handle.
	Read func(ctx context.Context, query string, args []any) (Rows, error)

	// LookUps is how many look-ups of sessions ask at once at most, alone or together in one statement. 0: each asks by
	// itself. Lateral says that the engine finds each session's user by a LATERAL: for a join it would read all users of a
	// table that is small.
	LookUps int
	Lateral bool

	// Migrating runs do on conn while no other process does, in a transaction where DDL can be in one.
	Migrating func(ctx context.Context, conn *sql.Conn, do func() error) error
	// Collation returns the collation of a column and the statement that makes it exact, if the collation treats texts as
	// equal that differ in case or accents; both are empty if it does not. It is nil if the database has no such columns.
	Collation func(ctx context.Context, conn *sql.Conn, table, column string) (name, fix string, err error)
	// Schema is a query for the columns and indexes of tables: the name of the table, that of the index or '' for a column
	// of the table, whether the index is unique for all rows, the column, and its place by which they are ordered. %s is a
	// query for the names of the tables, in a column called name.
	Schema string
}

// Rows are the rows of a query, which are read as those of [database/sql.Rows] are. Destinations are pointers to
// strings, integers and booleans, and [database/sql.Scanner]. One that has a method ScanText(text []byte) may be handed
// a column of texts by it, nil for null: it copies the text. One that has a method ScanTime(at time.Time) may be handed
// a column of times by it, the zero time for null.
type Rows interface {
	Next() bool
	Scan(into ...any) error
	Err() error
	Close() error
}
