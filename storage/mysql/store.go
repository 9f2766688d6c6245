// Package mysql stores users, accounts, sessions and tokens in MySQL 8 or MariaDB 10.5, or later.
//
//	store, err := mysql.Open("app:password@tcp(localhost:3306)/app", mysql.Options{})
//	if err == nil {
//		err = store.Migrate(ctx)
//	}
//
// [New] uses your own *sql.DB. All statements work on both databases.
package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/latchkey-go/latchkey/core/store"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// Store is a store in MySQL or MariaDB: a [store.Store] that implements all optional interfaces too. It has the methods
// of [sqlstore.Store], in addition to those below.
type Store struct {
	*tables
	db            *sql.DB // nil in a transaction
	table, column string  // of the email addresses
	collated      atomic.Bool
}

// tables is an alias to embed the type without an exported field.
type tables = sqlstore.Store

// Migrate creates missing tables, columns and indexes. It changes and deletes nothing else, and may run at every start
// and in several processes concurrently: see [sqlstore.Store.Migrate].
//
// The first call logs a warning to [slog.Default] if the collation of the email column ignores case or accents:
// [Store.EmailCollation].
func (s *Store) Migrate(ctx context.Context) error {
	if err := s.tables.Migrate(ctx); err != nil {
		return err
	}
	return s.warnOfCollation(ctx)
}

// Close closes the prepared statements. It closes the connections only if Open opened them.
func (s *Store) Close() error { return s.tables.Close() }

// InTransaction implements [store.Transactor]: see [sqlstore.Store.InTransaction]. tx is a *Store.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	return s.tables.InTransaction(ctx, func(ctx context.Context, tx store.Store) error {
		return do(ctx, &Store{tables: tx.(*sqlstore.Store)})
	})
}

func newStore(s *sqlstore.Store, db *sql.DB, l Layout) *Store {
	return &Store{
		tables: s, db: db,
		table: cmp.Or(l.Users, l.Prefix+"users"), column: cmp.Or(l.Columns["users.email"], "email"),
	}
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

// Drizzle is the layout of Auth.js's Drizzle adapter, as its documentation defines the tables for MySQL.
func Drizzle() Layout {
	return Layout{
		Users: "user", Accounts: "account", Sessions: "session",
		VerificationTokens: "verificationToken", Authenticators: "authenticator",
	}
}

// Prisma is the layout of Auth.js's Prisma adapter, as its documentation defines the models.
func Prisma() Layout {
	return Layout{
		Users: "User", Accounts: "Account", Sessions: "Session",
		VerificationTokens: "VerificationToken", Authenticators: "Authenticator",
		UpdatedAt: "updatedAt",
	}
}

// TypeORM is the layout of Auth.js's TypeORM adapter.
func TypeORM() Layout {
	return Layout{
		VerificationTokens: "verification_tokens", Times: sqlstore.MillisTextTimes,
		RecordIDs: []string{"accounts", "sessions", "verification_token"},
	}
}

// New returns a Store on an open handle, which the caller closes. It sends nothing to the database. The driver must be
// go-sql-driver/mysql. Its settings do not matter, but the SQL mode must be strict, which is the default: Migrate
// checks it.
func New(db *sql.DB, options Options) (*Store, error) {
	s, err := sqlstore.New(db, dialect(), options.Layout)
	if err != nil {
		return nil, err
	}
	return newStore(s, db, options.Layout), nil
}

// The settings of Open. There are enough connections for one process, and few enough for four processes to share a
// server with its default limit. Idle connections stay open for idleFor, because a new connection costs many times as
// much as a session lookup: with a smaller idle limit, a busy process would open connections all the time.
const (
	maxConnections = 20
	idleFor        = 3 * time.Minute
	connectWithin  = 10 * time.Second
)

// Open returns a Store on its own pool of at most 20 connections. dsn is a data source name of go-sql-driver/mysql.
// Open does not connect: Migrate is the first call that does. Close the Store when done.
func Open(dsn string, options Options) (*Store, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("mysql: open: %w", err)
	}
	config.ClientFoundRows = true      // an update that changes nothing then needs no second query
	config.Logger = &mysql.NopLogger{} // errors are returned by the calls
	if config.Timeout == 0 {
		config.Timeout = connectWithin
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("mysql: open: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(maxConnections)
	db.SetMaxIdleConns(maxConnections)
	db.SetConnMaxIdleTime(idleFor)
	s, err := sqlstore.NewOwner(db, dialect(), options.Layout, nil)
	if err != nil {
		return nil, err
	}
	return newStore(s, db, options.Layout), nil
}

// Schema returns the DDL of a new database, for use with your own migration tool. For another layout use the Store's
// method Schema.
func Schema() string {
	s, _ := New(&sql.DB{}, Options{}) // does not use the handle; the zero layout is valid
	return s.Schema()
}
