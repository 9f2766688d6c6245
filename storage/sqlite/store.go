// Package sqlite keeps users, accounts, sessions and tokens in SQLite. The driver that [Open] uses is pure Go.
//
//	store, err := sqlite.Open("app.db")
//	if err == nil {
//		err = store.Migrate(ctx)
//	}
//
// [New] takes a handle of your own instead, of this driver or of another. Open stands here and not in a package of its
// own because the driver is what most applications use; one that brings another pays with the size of the program, and
// with nothing else.
//
// A database has one writer at a time. Writers of one Store wait for each other in turn, as long as their context
// allows; writers of other Stores and processes wait for the lock of the file, five seconds at most.
package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"runtime"

	driver "modernc.org/sqlite" // which also is the driver "sqlite" of database/sql

	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// Store is a store in SQLite: a [store.Store] with all the interfaces beside it.
type Store = sqlstore.Store

// Layout says how the tables are named and what is in them. The zero value is what Migrate makes in a new database.
type Layout = sqlstore.Layout

// Drizzle is the database of Auth.js's Drizzle adapter, as its documentation defines the tables for SQLite.
func Drizzle() Layout {
	return Layout{
		Users: "user", Accounts: "account", Sessions: "session",
		VerificationTokens: "verificationToken", Authenticators: "authenticator",
		Times: sqlstore.MillisTimes,
	}
}

// Prisma is the database of Auth.js's Prisma adapter, as its documentation defines the models. Prisma writes times in
// one of two forms: as text (what its driver adapters do) or as milliseconds (what its engine of Rust does, and driver
// adapters with timestampFormat "unixepoch-ms"), and takes a session in the other form for expired or for endless.
// Which of them the tables hold is found out; in tables that hold none it is text. To say it, set Times to
// sqlstore.OffsetTimes or sqlstore.MillisTimes.
func Prisma() Layout {
	return Layout{
		Users: "User", Accounts: "Account", Sessions: "Session",
		VerificationTokens: "VerificationToken", Authenticators: "Authenticator",
		Times: sqlstore.FoundTimes, UpdatedAt: "updatedAt",
	}
}

// D1 is the database of Auth.js's D1 adapter.
func D1() Layout {
	return Layout{
		VerificationTokens: "verification_tokens", Times: sqlstore.ISOTimes, RecordIDs: []string{"accounts", "sessions"},
		AccountMembers: []string{"oauth_token_secret", "oauth_token"},
	}
}

// TypeORM is the database of Auth.js's TypeORM adapter.
func TypeORM() Layout {
	return Layout{
		VerificationTokens: "verification_tokens", Times: sqlstore.MillisTextTimes,
		RecordIDs: []string{"accounts", "sessions", "verification_token"},
	}
}

// New returns a Store on an open handle, which stays the caller's to close. It asks the engine nothing. The handle
// should wait for the file's lock and keep a write-ahead log: see [DSN] for the settings. At most one layout is given.
func New(db *sql.DB, layout ...Layout) (*Store, error) { return sqlstore.New(db, dialect(), layout...) }

// What Open sets: a connection can keep one processor busy, and more of them than that only add memory, files and
// waiting. Two of them are for all but look-ups: one at a time writes, and the other one lets what is written be
// moved from the log into the file meanwhile.
const (
	leastConnections = 4
	mostConnections  = 16
	forWriting       = 2
)

// Open opens a database file with the settings of [DSN]. It creates a missing file with mode 0600, which SQLite gives
// to its journals too; it does not change the mode of an existing file. ":memory:" is a database that ends with the
// Store. The Store keeps two connections for each processor, at least 4 and at most 16; one at a time writes. Close it
// when done. At most one layout is given.
func Open(path string, layout ...Layout) (*Store, error) {
	if err := createPrivate(path); err != nil {
		return nil, fmt.Errorf("sqlite: open: %w", err)
	}
	connector, err := driver.NewConnector(DSN(path))
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", path, err)
	}
	s, err := opened(path, connector, layout)
	if err != nil {
		return nil, err
	}
	if err := s.Ping(context.Background()); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: open %s: %w", path, err), s.Close())
	}
	return s, nil
}

// createPrivate creates a missing database file that only its owner can read: the driver would leave that to the umask,
// and the file has session tokens and password hashes. SQLite takes an empty file for a new database.
func createPrivate(path string) error {
	if path == ":memory:" || path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the path is the application's
	if errors.Is(err, fs.ErrExist) {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return nil // SQLite says what is wrong with it
		}
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // a symbolic link to a missing file
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// opened is a store with connections of its own: some that read, of which database/sql knows nothing, and a handle.
func opened(path string, connector sqldriver.Connector, layout []Layout) (*Store, error) {
	if path == ":memory:" { // each connection would have a database of its own
		return sqlstore.NewOwner(handleOf(connector, 1), dialect(), layout...)
	}
	connections := min(max(leastConnections, 2*runtime.GOMAXPROCS(0)), mostConnections)
	reading := newReaders(connector, connections-forWriting)
	d := dialect()
	d.Read, d.LookUps = reading.read, cap(reading.turns)
	return sqlstore.NewOwner(handleOf(owned{connector, reading}, forWriting), d, layout...)
}

// owned is a connector whose handle, when it is closed, closes the readers too.
type owned struct {
	sqldriver.Connector
	*readers
}

// handleOf is a handle that keeps so many connections: opening one reads the schema and sets all pragmas.
func handleOf(connector sqldriver.Connector, connections int) *sql.DB {
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db
}

// Schema returns the DDL of a new database, for people with a migration tool of their own. A Store with another layout
// has a method of the same name.
func Schema() string {
	s, _ := New(&sql.DB{}) // asks the handle nothing; the zero layout is valid
	return s.Schema()
}

// DSN is the data source name, for the driver modernc.org/sqlite, of a database file with the settings that this store
// wants: a write-ahead log, so that readers do not wait for the writer; a tenth of a second of patience with the
// writers of other processes, to which a Store adds up to five seconds while its context lasts, which the engine would
// not look at; foreign keys; transactions that take the lock when they begin. What is committed is on the disk
// (synchronous is FULL). The log goes back to 16 MB when a checkpoint has emptied it, however much a transaction has
// written. Deleted rows are overwritten with zeros where that costs no further access to the disk (secure_delete is
// FAST).
//
// A driver that opens a missing file by a DSN creates it with the umask of the process: create the file with mode 0600
// before, as [Open] does.
func DSN(path string) string {
	q := url.Values{
		"_pragma": {
			"busy_timeout(100)", "journal_mode(WAL)", "foreign_keys(1)", "synchronous(FULL)",
			"journal_size_limit(16777216)", "secure_delete(FAST)",
		},
		"_txlock": {"immediate"},
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}
