// Package postgres keeps users, accounts, sessions and tokens in PostgreSQL 12 or later.
//
//	store, err := postgres.Open("postgres://app@localhost/app")
//	if err == nil {
//		err = store.Migrate(ctx)
//	}
//
// [New] takes a *sql.DB of your own, [NewFromPool] a *pgxpool.Pool, whose look-ups cost less. Tables stand in the first
// schema of the connection's search_path. The driver pgx keeps prepared statements for each connection; nothing is
// prepared for a call.
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

	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// Store is a store in PostgreSQL: a [store.Store] with all the interfaces beside it. A statement that fails within a
// transaction ends the transaction.
type Store = sqlstore.Store

// Layout says how the tables are named and what is in them. The zero value is what Migrate makes in a new database.
type Layout = sqlstore.Layout

// AuthJS is the database of Auth.js's PostgreSQL adapter, @auth/pg-adapter: ids are integers.
func AuthJS() Layout { return Layout{IDs: sqlstore.IntegerIDs} }

// Drizzle is the database of Auth.js's Drizzle adapter, as its documentation defines the tables for PostgreSQL.
func Drizzle() Layout {
	return Layout{
		Users: "user", Accounts: "account", Sessions: "session",
		VerificationTokens: "verificationToken", Authenticators: "authenticator",
	}
}

// Prisma is the database of Auth.js's Prisma adapter, as its documentation defines the models.
func Prisma() Layout {
	return Layout{
		Users: "User", Accounts: "Account", Sessions: "Session",
		VerificationTokens: "VerificationToken", Authenticators: "Authenticator",
		UpdatedAt: "updatedAt",
	}
}

// TypeORM is the database of Auth.js's TypeORM adapter.
func TypeORM() Layout {
	return Layout{VerificationTokens: "verification_tokens", IDs: sqlstore.UUIDs, Times: sqlstore.MillisTextTimes}
}

// Kysely is the database of Auth.js's Kysely adapter, as its documentation makes the tables for PostgreSQL.
func Kysely() Layout {
	return Layout{
		Users: "User", Accounts: "Account", Sessions: "Session",
		VerificationTokens: "VerificationToken", Authenticators: "Authenticator",
		IDs: sqlstore.UUIDs,
	}
}

// Sequelize is the database of Auth.js's Sequelize adapter.
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

// New returns a Store on an open handle, which stays the caller's to close. It asks the engine nothing. The driver
// should be pgx, imported as github.com/jackc/pgx/v5/stdlib; another one works if its errors have a method SQLState. At
// most one layout is given.
func New(db *sql.DB, layout ...Layout) (*Store, error) { return sqlstore.New(db, dialect(), layout...) }

// NewFromPool returns a Store on a pool, which stays the caller's to close and decides how many connections there are.
// Visitors who look their sessions up at the same time share a query, whose context has the values of one of them; with
// a pool that has PrepareConn or BeforeAcquire, which may tell visitors apart, they do not. At most one layout is
// given.
func NewFromPool(pool *pgxpool.Pool, layout ...Layout) (*Store, error) {
	if pool == nil {
		return nil, errors.New("postgres: no pool: give NewFromPool an open *pgxpool.Pool")
	}
	return onPool(pool, stdlib.GetPoolConnector(pool), layout)
}

// What Open sets where the address does not. Each connection is a process of the server: with more of them than keep
// its processors busy they wait for each other, and look-ups take longer, not less. All are kept for the next request
// until nobody has used them for idleFor: to make one costs many times what a session look-up does.
//
// A connection has room for the statements of the store, of which there are fewer, and for none of others: pgx would
// reserve 54 kB for 512 of them on each, which the collector looks through every time.
const (
	maxConnections = 8
	idleFor        = 5 * time.Minute
	statements     = 64
)

// Open returns a Store on a pool of its own, at most 8 connections. dsn is a URL or a list of key=value as libpq knows
// them, with the parameters of pgxpool, such as pool_max_conns=8. It does not connect: Migrate is the first call that
// does. Close it when done: it waits for the calls under way. At most one layout is given.
func Open(dsn string, layout ...Layout) (*Store, error) {
	config, err := poolConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("postgres: open: %w", err) // pgx leaves the password out
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, fmt.Errorf("postgres: open: %w", err)
	}
	return onPool(pool, owned{stdlib.GetPoolConnector(pool), pool}, layout)
}

func poolConfig(dsn string) (*pgxpool.Config, error) {
	said, err := pgconn.ParseConfig(dsn) // which leaves to others what is theirs
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

// Schema returns the DDL of a new database, for people with a migration tool of their own. A Store with another layout
// has a method of the same name.
func Schema() string {
	s, _ := New(&sql.DB{}) // asks the handle nothing; the zero layout is valid
	return s.Schema()
}
