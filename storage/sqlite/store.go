// Package sqlite stores users, accounts, sessions and tokens in SQLite. The driver that [Open] uses is pure Go.
//
//	store, err := sqlite.Open("app.db", sqlite.Options{})
//	if err == nil {
//		err = store.Migrate(ctx)
//	}
//
// [New] uses your own handle instead, with this driver or another. A program with another driver still contains this
// one, which only increases its size.
//
// SQLite allows one writer at a time. Writers of one Store wait for each other in order, as long as their context
// allows. Writers of other Stores and processes wait for the lock of the file, at most five seconds.
package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"runtime"
	"sync"

	driver "modernc.org/sqlite" // also registers the driver "sqlite" of database/sql

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/sqlpool"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// Store is a store in SQLite: a [store.Store] that implements all optional interfaces too. It has the methods of
// [sqlstore.Store], in addition to those below.
type Store struct {
	*tables
	db *sql.DB // nil in a transaction
}

// tables is an alias to embed the type without an exported field.
type tables = sqlstore.Store

// Migrate creates missing tables, columns and indexes. It changes and deletes nothing else, and may run at every start
// and in several processes concurrently: see [sqlstore.Store.Migrate].
func (s *Store) Migrate(ctx context.Context) error { return s.tables.Migrate(ctx) }

// Close closes the prepared statements. It closes the connections only if Open opened them.
func (s *Store) Close() error { return s.tables.Close() }

// InTransaction implements [store.Transactor]: see [sqlstore.Store.InTransaction]. tx is a *Store.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	return s.tables.InTransaction(ctx, func(ctx context.Context, tx store.Store) error {
		return do(ctx, &Store{tables: tx.(*sqlstore.Store)})
	})
}

// Files returns the paths of the database files, without their journals, for tools that check permissions. The list is
// empty for a database in memory.
func (s *Store) Files(ctx context.Context) (paths []string, err error) {
	defer func() { err = store.OpError(ctx, "sqlite", "list files", err) }()
	if s.db == nil {
		return nil, errors.New("not within a transaction")
	}
	rows, err := s.db.QueryContext(ctx, "SELECT file FROM pragma_database_list WHERE file <> ''")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	for rows.Next() {
		var path string
		if err := rows.Scan(&path); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// Options are the settings of a Store. The zero value is valid.
type Options struct {
	// Layout describes the names and columns of the tables. The default is the layout that Migrate creates in a new
	// database.
	Layout Layout
}

// Layout describes the names and columns of the tables. The zero value is the layout that Migrate creates in a new
// database. See [sqlstore.Layout] for the fields.
type Layout = sqlstore.Layout

// Drizzle is the layout of Auth.js's Drizzle adapter, as its documentation defines the tables for SQLite.
func Drizzle() Layout {
	return Layout{
		Users: "user", Accounts: "account", Sessions: "session",
		VerificationTokens: "verificationToken", Authenticators: "authenticator",
		Times: sqlstore.MillisTimes,
	}
}

// Prisma is the layout of Auth.js's Prisma adapter, as its documentation defines the models. Prisma writes times in one
// of two forms: as text (its driver adapters) or as milliseconds (its Rust engine, and driver adapters with
// timestampFormat "unixepoch-ms"). It treats a session in the other form as expired or as unlimited. The store detects
// the form from the tables, and uses text in empty tables. To set it explicitly, set Times to sqlstore.OffsetTimes or
// sqlstore.MillisTimes.
func Prisma() Layout {
	return Layout{
		Users: "User", Accounts: "Account", Sessions: "Session",
		VerificationTokens: "VerificationToken", Authenticators: "Authenticator",
		Times: sqlstore.FoundTimes, UpdatedAt: "updatedAt",
	}
}

// D1 is the layout of Auth.js's D1 adapter.
func D1() Layout {
	return Layout{
		VerificationTokens: "verification_tokens", Times: sqlstore.ISOTimes, RecordIDs: []string{"accounts", "sessions"},
		AccountMembers: []string{"oauth_token_secret", "oauth_token"},
	}
}

// TypeORM is the layout of Auth.js's TypeORM adapter.
func TypeORM() Layout {
	return Layout{
		VerificationTokens: "verification_tokens", Times: sqlstore.MillisTextTimes,
		RecordIDs: []string{"accounts", "sessions", "verification_token"},
	}
}

// New returns a Store on an open handle, which the caller closes. It sends nothing to the database. The handle should
// wait for the file's lock and use a write-ahead log: see [DSN] for the settings.
func New(db *sql.DB, options Options) (*Store, error) {
	s, err := sqlstore.New(db, dialect(), options.Layout)
	if err != nil {
		return nil, err
	}
	return &Store{s, db}, nil
}

// The settings of Open. One connection can use one processor fully; more connections only add memory, files and
// waiting. Two of them are not for lookups: one at a time writes, and the other allows a checkpoint of the write-ahead
// log meanwhile.
const (
	leastConnections = 4
	mostConnections  = 16
	forWriting       = 2
)

// Open opens a database file with the settings of [DSN]. It creates a missing file with mode 0600, which SQLite also
// uses for its journals; it does not change the mode of an existing file. ":memory:" is a database that exists as long
// as the Store. The Store has two connections for each processor, at least 4 and at most 16. One of them at a time
// writes. Close the Store when done.
func Open(path string, options Options) (*Store, error) {
	if err := createPrivate(path); err != nil {
		return nil, fmt.Errorf("sqlite: open: %w", err)
	}
	connector, err := driver.NewConnector(DSN(path))
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", path, err)
	}
	db, lookups := handles(path, connector)
	tables, err := sqlstore.NewOwner(db, dialect(), options.Layout, lookups)
	if err != nil {
		return nil, err
	}
	s := &Store{tables, db}
	if err := s.Ping(context.Background()); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlite: open %s: %w", path, err), s.Close())
	}
	return s, nil
}

// createPrivate creates a missing database file that only its owner can read, because the file contains session tokens
// and password hashes. The driver would create it with the umask. SQLite treats an empty file as a new database.
func createPrivate(path string) error {
	if path == ":memory:" || path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the path is the application's
	if errors.Is(err, fs.ErrExist) {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return nil // SQLite reports what is wrong with it
		}
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // a symbolic link to a missing file
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// handles returns the handle of a store and a pool for its lookups, which has a separate handle.
func handles(path string, connector sqldriver.Connector) (*sql.DB, *sqlpool.Pool) {
	if path == ":memory:" { // each connection would have its own database
		return handleOf(connector, 1), nil
	}
	connections := min(max(leastConnections, 2*runtime.GOMAXPROCS(0)), mostConnections) - forWriting
	reading := &readers{db: handleOf(connector, connections), turns: make(chan struct{}, connections)}
	db := handleOf(owned{connector, reading.db}, forWriting)
	return db, &sqlpool.Pool{Query: reading.read, Lookups: connections}
}

// owned is a connector that closes the handle for lookups when its own handle is closed.
type owned struct {
	sqldriver.Connector
	io.Closer
}

// handleOf returns a handle that keeps idle connections: opening one reads the schema and sets all pragmas.
func handleOf(connector sqldriver.Connector, connections int) *sql.DB {
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db
}

// readers runs lookups without interruption. Otherwise database/sql and the driver would each start a goroutine for
// every lookup, only to watch its context: 15 µs of CPU time instead of 10. The context limits the wait for a
// connection, and busy_timeout the wait for a lock.
type readers struct {
	db       *sql.DB
	turns    chan struct{} // contains a value for each connection in use
	prepared sync.Map      // *sql.Stmt by query
}

// read implements [sqlpool.Pool.Query].
func (r *readers) read(ctx context.Context, query string, args []any) (sqlpool.Rows, error) {
	select {
	case r.turns <- struct{}{}:
	default: // ctx.Done may start a timer
		select {
		case r.turns <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	found, err := r.query(context.WithoutCancel(ctx), query, args)
	if err != nil {
		<-r.turns
		return nil, err
	}
	return &rows{found, r.turns}, nil
}

func (r *readers) query(ctx context.Context, query string, args []any) (*sql.Rows, error) {
	st, ok := r.prepared.Load(query)
	if !ok {
		made, err := r.db.PrepareContext(ctx, query)
		if err != nil {
			return nil, err
		}
		if st, ok = r.prepared.LoadOrStore(query, made); ok {
			_ = made.Close()
		}
	}
	return st.(*sql.Stmt).QueryContext(ctx, args...) //nolint:sqlclosecheck // its rows are closed
}

// rows are the rows of a lookup. Close ends its use of the connection.
type rows struct {
	*sql.Rows
	turns chan struct{}
}

// Close implements [sqlpool.Rows].
func (r *rows) Close() error {
	err := r.Rows.Close()
	<-r.turns
	return err
}

// Schema returns the DDL of a new database, for use with your own migration tool. For another layout use the Store's
// method Schema.
func Schema() string {
	s, _ := New(&sql.DB{}, Options{}) // does not use the handle; the zero layout is valid
	return s.Schema()
}

// DSN returns the data source name of a database file for the driver modernc.org/sqlite, with the settings that this
// store needs:
//
//   - A write-ahead log, so that readers do not wait for the writer. After a checkpoint the log is truncated to 16 MB.
//   - busy_timeout is 100 ms. SQLite ignores the context during that time, so the timeout is short, and the Store
//     retries for up to five seconds while its context lasts.
//   - Foreign keys are enforced, and transactions take the write lock when they begin.
//   - synchronous is FULL: committed data is on the disk.
//   - secure_delete is FAST: deleted rows are overwritten with zeros if that needs no further disk access.
//
// A driver that opens a missing file creates it with the umask of the process. Create the file with mode 0600 before,
// as [Open] does.
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
