// Package postgres stores users, accounts, sessions and tokens in PostgreSQL 12 or later.
//
//	store, err := postgres.Open("postgres://app@localhost/app", postgres.Options{})
//	if err == nil {
//		err = store.Migrate(ctx)
//	}
//
// [New] uses your own *sql.DB, and [NewFromPool] your own *pgxpool.Pool. Lookups on a pool are cheaper. The tables are
// in the first schema of the connection's search_path. The driver pgx caches prepared statements for each connection;
// calls prepare nothing.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/latchkey-go/latchkey/core/store"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// Store is a store in PostgreSQL: a [store.Store] that implements all optional interfaces too. It has the methods of
// [sqlstore.Store], in addition to those below. A statement that fails within a transaction aborts the
// transaction.
type Store struct{ *tables }

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
		return do(ctx, &Store{tx.(*sqlstore.Store)})
	})
}

// wrapped returns the Store of a database-independent store.
func wrapped(s *sqlstore.Store, err error) (*Store, error) {
	if err != nil {
		return nil, err
	}
	return &Store{s}, nil
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

// AuthJS is the layout of Auth.js's PostgreSQL adapter, @auth/pg-adapter. IDs are integers.
func AuthJS() Layout { return Layout{IDs: sqlstore.IntegerIDs} }

// Drizzle is the layout of Auth.js's Drizzle adapter, as its documentation defines the tables for PostgreSQL.
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
	return Layout{VerificationTokens: "verification_tokens", IDs: sqlstore.UUIDs, Times: sqlstore.MillisTextTimes}
}

// Kysely is the layout of Auth.js's Kysely adapter, as its documentation creates the tables for PostgreSQL.
func Kysely() Layout {
	return Layout{
		Users: "User", Accounts: "Account", Sessions: "Session",
		VerificationTokens: "VerificationToken", Authenticators: "Authenticator",
		IDs: sqlstore.UUIDs,
	}
}

// Sequelize is the layout of Auth.js's Sequelize adapter.
func Sequelize() Layout {
	return Layout{
		VerificationTokens: "verification_tokens", IDs: sqlstore.UUIDs, RecordIDs: []string{"accounts", "sessions"},
		Columns: map[string]string{
			"users.emailVerified": "email_verified",
			"accounts.userId":     "user_id", "accounts.providerAccountId": "provider_account_id",
			"sessions.userId": "user_id", "sessions.sessionToken": "session_token",
		},
	}
}

// New returns a Store on an open handle, which the caller closes. It sends nothing to the database. The driver should
// be pgx, imported as github.com/jackc/pgx/v5/stdlib. Another driver works if its errors have a method SQLState.
func New(db *sql.DB, options Options) (*Store, error) {
	return wrapped(sqlstore.New(db, dialect(), options.Layout))
}

// NewFromPool returns a Store on a pool, which the caller closes. The pool decides the number of connections.
// Concurrent session lookups share a query, whose context has the values of one of the requests. If the pool has
// PrepareConn or BeforeAcquire, which may treat requests differently, lookups are not combined.
func NewFromPool(pool *pgxpool.Pool, options Options) (*Store, error) {
	if pool == nil {
		return nil, errors.New("postgres: no pool: give NewFromPool an open *pgxpool.Pool")
	}
	return onPool(pool, stdlib.GetPoolConnector(pool), options)
}

// The settings of Open unless dsn sets them. Each connection is a process of the server: if there are more connections
// than the server's processors can serve, they wait for each other and lookups take longer. Idle connections stay open
// for idleFor, because a new connection costs many times as much as a session lookup.
//
// The statement cache of a connection has space for the statements of the store, which are fewer. With its default of
// 512 statements, pgx would reserve 54 kB for each connection, which the garbage collector scans each time.
const (
	maxConnections = 8
	idleFor        = 5 * time.Minute
	statements     = 64
)

// Open returns a Store on its own pool of at most 8 connections. dsn is a URL or a list of key=value pairs as in libpq,
// with the parameters of pgxpool, such as pool_max_conns=8. Open does not connect: Migrate is the first call that does.
// Close the Store when done: Close waits for calls in progress.
func Open(dsn string, options Options) (*Store, error) {
	config, err := poolConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("postgres: open: %w", err) // pgx omits the password
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, fmt.Errorf("postgres: open: %w", err)
	}
	return onPool(pool, owned{stdlib.GetPoolConnector(pool), pool}, options)
}

func poolConfig(dsn string) (*pgxpool.Config, error) {
	said, err := pgconn.ParseConfig(dsn) // without the parameters of pgxpool
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	if _, ok := said.RuntimeParams["pool_max_conns"]; !ok {
		config.MaxConns = maxConnections
	}
	if _, ok := said.RuntimeParams["pool_max_conn_idle_time"]; !ok {
		config.MaxConnIdleTime = idleFor
	}
	if _, ok := said.RuntimeParams["statement_cache_capacity"]; !ok {
		config.ConnConfig.StatementCacheCapacity = statements
	}
	if _, ok := said.RuntimeParams["description_cache_capacity"]; !ok {
		config.ConnConfig.DescriptionCacheCapacity = statements
	}
	return config, nil
}

// Schema returns the DDL of a new database, for use with your own migration tool. For another layout use the Store's
// method Schema.
func Schema() string {
	s, _ := New(&sql.DB{}, Options{}) // does not use the handle; the zero layout is valid
	return s.Schema()
}
