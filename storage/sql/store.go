package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/store/batch"
)

// Store is a store on an SQL engine: a [store.Store] with all the interfaces beside it. It is safe for concurrent use;
// the package of an engine makes it.
//
// Errors begin with the engine and the operation and never hold a value. A taken key is [store.ErrConflict], absence is
// [store.ErrNotFound]. On PostgreSQL a failed statement ends the transaction that it was part of.
type Store struct {
	runner
	userStore
	accountStore
	sessionStore
	tokenStore
	authenticatorStore
	recordStore
	cleaner
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
)

// New returns a Store on an open handle. It asks the engine nothing: the tables may still have to be made. Of layouts
// at most one is given; none is the zero value.
func New(db *sql.DB, dialect Dialect, layouts ...Layout) (*Store, error) {
	if db == nil {
		return nil, fmt.Errorf("%s: no handle: give New an open *sql.DB", dialect.Name)
	}
	if len(layouts) > 1 {
		return nil, fmt.Errorf("%s: more than one layout: a store has one set of tables", dialect.Name)
	}
	e := &engine{db: db, dialect: dialect}
	for _, e.layout = range layouts {
	}
	var err error
	if e.layout, err = e.layout.completed(); err != nil {
		return nil, fmt.Errorf("%s: %w", dialect.Name, err)
	}
	if e.layout.Times == FoundTimes && dialect.TypeOf == nil {
		return nil, fmt.Errorf("%s: Layout.Times is FoundTimes, which is for SQLite: "+
			"columns have types here, say which form they hold", dialect.Name)
	}
	e.writtenAs.Store(int64(FoundTimes))
	e.build()
	if dialect.LookUps > 0 {
		outside := &runner{engine: e}
		e.lookUps = batch.New(dialect.LookUps, outside.lookUpOne, outside.lookUpAll)
	}
	if dialect.OneWriter {
		e.writing = make(chan struct{}, 1)
	}
	return storeOn(runner{engine: e}), nil
}

// storeOn is the Store whose statements r runs.
func storeOn(r runner) *Store {
	return &Store{
		r, userStore{r}, accountStore{r}, sessionStore{r}, tokenStore{r}, authenticatorStore{r}, recordStore{r}, cleaner{r},
	}
}

// NewOwner is [New] for a handle that the package of the engine has opened itself: Close closes it too, and so does
// NewOwner when it fails.
func NewOwner(db *sql.DB, dialect Dialect, layouts ...Layout) (*Store, error) {
	s, err := New(db, dialect, layouts...)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.owned = true
	return s, nil
}

// Close releases the prepared statements, and closes the handle if the Store opened it: one that was given stays open.
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

// Ping reaches for the engine.
func (s *Store) Ping(ctx context.Context) error {
	return s.failed(ctx, "ping", s.retrying(ctx, time.Now(), func() error { return s.db.PingContext(ctx) }), nil)
}

// Files returns the paths of the files that hold the tables, without their journals, for tools that examine
// permissions. It returns none if the engine is a server or keeps everything in memory.
func (s *Store) Files(ctx context.Context) (paths []string, err error) {
	if s.dialect.Files == "" {
		return nil, nil
	}
	const operation = "list files"
	rows, err := s.target().QueryContext(ctx, s.dialect.Files)
	if err != nil {
		return nil, s.failed(ctx, operation, err, nil)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var path string
		if err := rows.Scan(&path); err != nil {
			return nil, s.failed(ctx, operation, err, nil)
		}
		paths = append(paths, path)
	}
	return paths, s.failed(ctx, operation, rows.Err(), nil)
}

// Queries returns the text of every statement that the store runs, for tests that ask the engine how it would run them.
func (s *Store) Queries() []string {
	var list []string
	for _, st := range s.all {
		list = append(list, st.text)
	}
	return list
}

// InTransaction implements [store.Transactor]. tx is a *Store. When the engine undid the transaction because of a
// concurrent one, as in a deadlock or a serialization failure, do is called again from the start, in a new transaction,
// up to five times in all while the context lasts: what it has noted outside of the store, it has to note anew.
//
// A transaction within a transaction is a savepoint: when it fails, what it did is undone and the outer one goes on. On
// SQLite, which has one writer, a call to the outer store with the context of do is an error: it would wait for the
// transaction that waits for it.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	return s.inTransaction(ctx, "transaction", func(ctx context.Context, tx *runner) error {
		return do(ctx, storeOn(*tx))
	})
}
