// Package mysql keeps users, accounts, sessions and tokens in MySQL 8 or MariaDB 10.5, or later.
//
//	store, err := mysql.Open("app:password@tcp(localhost:3306)/app")
//	if err == nil {
//		err = store.Migrate(ctx)
//	}
//
// [New] takes a *sql.DB of your own. Statements are those that both engines know.
package mysql

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// Store is a store in MySQL or MariaDB: a [store.Store] with all the interfaces beside it.
type Store = sqlstore.Store

// Layout says how the tables are named and what is in them. The zero value is what Migrate makes in a new database.
type Layout = sqlstore.Layout

// Drizzle is the database of Auth.js's Drizzle adapter, as its documentation defines the tables for MySQL.
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
	return Layout{
		VerificationTokens: "verification_tokens", Times: sqlstore.MillisTextTimes,
		RecordIDs: []string{"accounts", "sessions", "verification_token"},
	}
}

// New returns a Store on an open handle, which stays the caller's to close. It asks the engine nothing. The driver must
// be go-sql-driver/mysql; its settings do not matter, but the SQL mode must be strict, as it is by default: Migrate
// checks it. At most one layout is given.
func New(db *sql.DB, layout ...Layout) (*Store, error) { return sqlstore.New(db, dialect(), layout...) }

// What Open sets: enough connections for one process, and few enough for four processes to share a server with its
// default limit. All are kept for the next request until nobody has used them for idleFor: to make one costs many times
// what a session look-up does, and with fewer kept than used a busy process makes them all the time.
const (
	maxConnections = 20
	idleFor        = 3 * time.Minute
	connectWithin  = 10 * time.Second
)

// Open returns a Store on a pool of its own, at most 20 connections. dsn is a data source name of go-sql-driver/mysql.
// It does not connect: Migrate is the first call that does. Close it when done. At most one layout is given.
func Open(dsn string, layout ...Layout) (*Store, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("mysql: open: %w", err)
	}
	config.ClientFoundRows = true      // an update that changes nothing then needs no second look
	config.Logger = &mysql.NopLogger{} // what goes wrong is an error of the call
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
	return sqlstore.NewOwner(db, dialect(), layout...)
}

// Schema returns the DDL of a new database, for people with a migration tool of their own. A Store with another layout
// has a method of the same name.
func Schema() string {
	s, _ := New(&sql.DB{}) // asks the handle nothing; the zero layout is valid
	return s.Schema()
}
