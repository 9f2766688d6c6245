package sqlstore

import (
	"context"
	"database/sql"
	"time"
)

// Dialect describes an engine and its driver. All functions without a remark must be set; all must be safe for concurrent use.
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
	// IntegerID converts a value to the type of counted ids where the engine would take it for a smaller one; nil: it need not.
	IntegerID func(value string) string
	// EncodeTime is the value that keeps a time in the engine's own form; an error when the engine cannot keep it.
	EncodeTime func(t time.Time) (any, error)
	// DecodeTime reads what the driver returns for it, in UTC.
	DecodeTime func(value any) (time.Time, error)
	// ReadTime is how a column of such times is selected; nil: by its name.
	ReadTime func(column string) string
	// IsText is a condition that keeps a comparison of texts from columns that hold something else; nil: types do.
	IsText func(column string) string
	// Now is an expression for the current time, in UTC, as a column UpdatedAt keeps it.
	Now string

	// Returning says that DELETE and INSERT can return what they touched.
	Returning bool
	// DriverPrepares says that the driver keeps prepared statements by itself, so that the store does not.
	DriverPrepares bool
	// ChangedRows says that a handle may count only rows that an update changed, not those that it found.
	ChangedRows bool
	// OneWriter makes writers of one Store wait for each other in the process rather than in the engine, for an engine that has
	// one writer at a time: waiting is then fair and ends with the context.
	OneWriter bool
	// Begin is a statement that begins the work of every transaction; %s is the table of users, quoted. Empty: none.
	Begin string

	// Conflict, NoParent and Retry tell whether an error of the driver is a violated unique key, a violated foreign key, or
	// something that undid the statement and may not happen again, such as a deadlock.
	Conflict, NoParent, Retry func(err error) bool
	// Busy tells whether an error of the driver says that another process holds the lock; nil: the engine waits by itself.
	Busy func(err error) bool
	// Repeats tells whether the message of an error of the driver may repeat a value, in whatever form; nil: it is looked at.
	Repeats func(err error) bool

	// Migrating runs do on conn while no other process does, in a transaction where DDL can be in one.
	Migrating func(ctx context.Context, conn *sql.Conn, do func() error) error
	// TableExists is a query for the number of tables of a name, 0 or 1.
	TableExists string
	// Indexes is a query for the indexes of a table: name, whether it is unique for all rows, column, in order.
	Indexes string
}
