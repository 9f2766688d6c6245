// Package sqlstore is the shared implementation of the stores on SQL databases: the statements of [store.Store] and its
// optional interfaces over database/sql, and the tables. A [Dialect] describes the database and a [Layout] the tables.
// Applications use the package of their database: storage/sqlite, storage/postgres or storage/mysql.
//
// [New] builds all statements. A database must support unique indexes, transactions and savepoints.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/batch"
	"github.com/latchkey-go/latchkey/internal/sqlpool"
)

// Store is a store on an SQL database: a [store.Store] that implements all optional interfaces too. It is safe for
// concurrent use. Create it with the package of the database.
//
// Errors begin with the database and the operation, and never contain a value. A duplicate key is [store.ErrConflict],
// and a missing row is [store.ErrNotFound]. On PostgreSQL a failed statement aborts its transaction.
type Store struct {
	*engine
	tx *transaction // nil outside transactions
}

var (
	_ store.SessionStore           = (*Store)(nil)
	_ store.VerificationTokenStore = (*Store)(nil)
	_ store.AuthenticatorStore     = (*Store)(nil)
	_ store.AuthenticatorDeleter   = (*Store)(nil)
	_ store.Transactor             = (*Store)(nil)
	_ store.AccountStore           = (*Store)(nil)
	_ store.UserDeleter            = (*Store)(nil)
	_ store.SessionLister          = (*Store)(nil)
	_ store.Cleaner                = (*Store)(nil)
	_ store.RecordStore            = (*Store)(nil)
	_ store.EmailLister            = (*Store)(nil)
	_ store.RecordLister           = (*Store)(nil)
	_ store.RecordPairReader       = (*Store)(nil)
	_ store.UserFinder             = (*Store)(nil)
)

// engine is the state that a Store shares with the Stores of its transactions.
type engine struct {
	db      *sql.DB
	owned   bool // Close closes db
	dialect Dialect
	layout  Layout
	pool    *sqlpool.Pool
	statements
	writtenAs atomic.Int64                // the Times value that FoundTimes has resolved to
	lookUps   *batch.Calls[*lookUp]       // nil if lookups are not combined
	named     *batch.Calls[*recordLookUp] // the same for records
	sorted    atomic.Pointer[bool]        // whether addresses are sorted by bytes; nil if unknown
	writing   chan struct{}               // contains a value while a call writes; nil if writers need not wait
}

// RequiresEmail reports whether the layout has [Layout].EmailRequired. Core reads it, because it cannot store guests
// then.
func (s *Store) RequiresEmail() bool { return s.layout.EmailRequired }

// New returns a Store on an open handle. It sends nothing to the database: the tables may not exist yet.
func New(db *sql.DB, dialect Dialect, layout Layout) (*Store, error) {
	return newStore(db, dialect, layout, &sqlpool.Pool{})
}

func newStore(db *sql.DB, dialect Dialect, layout Layout, pool *sqlpool.Pool) (*Store, error) {
	if db == nil {
		return nil, fmt.Errorf("%s: no handle: give New an open *sql.DB", dialect.Name)
	}
	layout, err := layout.completed()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dialect.Name, err)
	}
	dialect.Types = dialect.Types.completed()
	e := &engine{db: db, dialect: dialect, layout: layout, pool: pool}
	if layout.Times == FoundTimes && dialect.TypeOf == nil {
		return nil, fmt.Errorf("%s: Layout.Times is FoundTimes, which is for SQLite: "+
			"columns have types here, say which form they hold", dialect.Name)
	}
	e.writtenAs.Store(int64(FoundTimes))
	e.build()
	s := &Store{engine: e}
	if pool.Lookups > 0 {
		e.lookUps = batch.New(pool.Lookups, s.lookUpOne, s.lookUpAll)
		e.named = batch.New(pool.Lookups, s.recordOne, s.recordAll)
	}
	if dialect.OneWriter {
		e.writing = make(chan struct{}, 1)
	}
	return s, nil
}

// NewOwner is [New] for a handle that the caller's package has opened. Close closes the handle too, and so does
// NewOwner if it fails. pool is for the databases of this repository, and nil for other databases.
func NewOwner(db *sql.DB, dialect Dialect, layout Layout, pool *sqlpool.Pool) (*Store, error) {
	if pool == nil {
		pool = &sqlpool.Pool{}
	}
	s, err := newStore(db, dialect, layout, pool)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.owned = true
	return s, nil
}

// Close closes the prepared statements. It closes the handle only if the Store opened it.
func (s *Store) Close() error {
	if s.tx != nil {
		return fmt.Errorf("%s: close: this is the store of a transaction", s.dialect.Name)
	}
	var errs []error
	for _, st := range s.all {
		if p := st.ready.Swap(nil); p != nil {
			errs = append(errs, p.Close())
		}
	}
	if s.owned {
		errs = append(errs, s.db.Close())
	}
	return errors.Join(errs...)
}

// Ping checks the connection to the database.
func (s *Store) Ping(ctx context.Context) error {
	return s.failed(ctx, "ping", s.retrying(ctx, time.Now(), func() error { return s.db.PingContext(ctx) }), nil)
}

// Queries returns the text of every statement of the store, for tests that examine query plans.
func (s *Store) Queries() []string {
	var list []string
	for _, st := range s.all {
		list = append(list, st.text)
	}
	return list
}

// InTransaction implements [store.Transactor]. tx is a *Store. If the database aborts the transaction because of a
// concurrent one (a deadlock or serialization failure), do runs again in a new transaction, up to five times in all
// while ctx lasts. do must therefore reset what it has stored outside of the database.
//
// A transaction within a transaction is a savepoint: if it fails, its changes are undone and the outer transaction
// continues. On SQLite, which allows one writer, a call to the outer store with the context of do returns an error: it
// would wait for the transaction that waits for it.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	return s.inTransaction(ctx, "transaction", func(ctx context.Context, tx *Store) error {
		return do(ctx, tx)
	})
}
