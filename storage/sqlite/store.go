// Package sqlite keeps users, accounts, sessions and tokens in SQLite. The driver is pure Go.
//
//	store, err := sqlite.Open("app.db")
//	if err == nil {
//		err = store.Migrate(ctx)
//	}
//
// [New] takes a handle of your own instead. The file has one writer at a time: writers wait for each other up to five seconds.
package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/latchkey-go/latchkey/core"
)

//go:embed schema.sql
var schema string

// Schema returns the DDL that Migrate applies, for people with a migration tool of their own.
func Schema() string { return schema }

// Store is a store in SQLite. It is safe for concurrent use; make it with [New] or [Open].
type Store struct {
	db *sql.DB // nil within a transaction
	q  querier
}

// querier is a *sql.DB or a *sql.Tx.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

var (
	_ core.SessionStore           = (*Store)(nil)
	_ core.VerificationTokenStore = (*Store)(nil)
	_ core.AuthenticatorStore     = (*Store)(nil)
	_ core.Transactor             = (*Store)(nil)
	_ core.AccountUpdater         = (*Store)(nil)
	_ core.Deleter                = (*Store)(nil)
	_ core.SessionLister          = (*Store)(nil)
	_ core.Cleaner                = (*Store)(nil)
)

// New returns a Store on an open handle of the driver modernc.org/sqlite. Foreign keys must be on, and transactions should begin
// immediately; see [DSN].
func New(db *sql.DB) *Store { return &Store{db: db, q: db} }

// Open opens a database file, making it when it is missing. ":memory:" is a database that ends with the Store.
func Open(path string) (*Store, error) {
	db, err := sql.Open("sqlite", DSN(path))
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", path, err)
	}
	if path == ":memory:" {
		db.SetMaxOpenConns(1) // each connection would have a database of its own
	}
	if err := db.PingContext(context.Background()); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("sqlite: open %s: %w", path, err)
	}
	return New(db), nil
}

// DSN is the data source name of a database file with the settings that this store wants: write-ahead log, foreign keys, writers
// that wait, transactions that take the write lock when they begin rather than fail in the middle.
func DSN(path string) string {
	q := url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "foreign_keys(1)", "synchronous(NORMAL)"},
		"_txlock": {"immediate"},
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// Migrate makes the tables and indexes that are missing. It may run at every start and from several processes at once.
func (s *Store) Migrate(ctx context.Context) error {
	return s.transaction(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return fmt.Errorf("sqlite: migrate: %w", err)
		}
		return nil
	})
}

// Close closes the handle, also one that was given to New.
func (s *Store) Close() error { return s.db.Close() }

// InTransaction implements [core.Transactor].
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx core.Store) error) error {
	return s.transaction(ctx, func(tx *sql.Tx) error { return do(ctx, &Store{q: tx}) })
}

func (s *Store) transaction(ctx context.Context, do func(*sql.Tx) error) error {
	if s.db == nil {
		return errors.New("sqlite: transactions do not nest")
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("sqlite: begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing; on a panic it undoes
	if err := do(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("sqlite: commit: %w", err)
	}
	return nil
}

// failed names the operation and turns the driver's errors into those of the contract.
func failed(operation string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		return core.ErrNotFound
	}
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() {
		case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
			return fmt.Errorf("sqlite: %s: %w", operation, core.ErrConflict)
		case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
			return fmt.Errorf("sqlite: %s: the user is gone: %w", operation, core.ErrNotFound)
		}
	}
	return fmt.Errorf("sqlite: %s: %w", operation, err)
}

// exec runs a statement on texts that the engine can keep; want is how many rows must change at the least.
func (s *Store) exec(ctx context.Context, operation, query string, want int64, args ...any) error {
	if err := storable(operation, args); err != nil {
		return err
	}
	result, err := s.q.ExecContext(ctx, query, args...)
	if err != nil {
		return failed(operation, err)
	}
	if n, err := result.RowsAffected(); err != nil || n < want {
		return failed(operation, errors.Join(err, core.ErrNotFound))
	}
	return nil
}

// storable refuses texts that would come back changed, or cut off by other tools: NUL bytes and invalid UTF-8.
func storable(operation string, args []any) error {
	for _, arg := range args {
		text, ok := arg.(string)
		if n, isNull := arg.(sql.NullString); isNull {
			text, ok = n.String, true
		}
		if ok && (strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text)) {
			return fmt.Errorf("sqlite: %s: a text holds a NUL byte or is no valid UTF-8: it cannot be stored", operation)
		}
	}
	return nil
}

// micros is how times are kept: microseconds since 1970, so that order and equality need no parsing.
func micros(t time.Time) int64 { return t.UnixMicro() }

func fromMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }

func optional(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }
