package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// Store is a store on an SQL engine: a [store.Store] with all the interfaces beside it. It is safe for concurrent use;
// the package of an engine makes it.
//
// Errors begin with the engine and the operation and never hold a value. A taken key is [store.ErrConflict], absence is
// [store.ErrNotFound]. On PostgreSQL a failed statement ends the transaction that it was part of.
type Store struct {
	*engine
	tx *transaction // nil outside transactions
}

// engine is what a Store shares with the Stores of its transactions.
type engine struct {
	db      *sql.DB
	owned   bool // Close closes db
	dialect Dialect
	layout  Layout
	statements
	writtenAs atomic.Int64  // the Times that FoundTimes stands for
	writing   chan struct{} // holds one value while a call writes; nil when writers need not wait for each other
}

// transaction is an open transaction.
type transaction struct {
	*sql.Tx
	ended atomic.Bool
}

// within is the key under which the context of a transaction names it, for each engine apart.
type within struct{ *engine }

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
	if dialect.OneWriter {
		e.writing = make(chan struct{}, 1)
	}
	return &Store{engine: e}, nil
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
	return s.inTransaction(ctx, "transaction", do)
}

// inTransaction is InTransaction for an operation that the errors of the transaction itself name.
func (s *Store) inTransaction(
	ctx context.Context, operation string, do func(ctx context.Context, tx store.Store) error,
) error {
	if s.tx != nil {
		return s.savepoint(ctx, operation, do)
	}
	came := time.Now()
	if err := s.enter(ctx, writes); err != nil {
		return s.failed(ctx, operation, err, nil)
	}
	defer s.leave(writes)
	if !s.dialect.DriverPrepares {
		s.prepareAll(ctx)
	}
	for n := 1; ; n++ {
		err := s.transact(ctx, operation, came, do)
		if err == nil || n == attempts || !s.dialect.Retry(err) {
			return err
		}
		if store.Pause(ctx, longestPause<<(n-1)) != nil {
			return err
		}
	}
}

// transact runs do in a transaction, once.
func (s *Store) transact(
	ctx context.Context, operation string, came time.Time, do func(ctx context.Context, tx store.Store) error,
) error {
	var tx *transaction
	err := s.retrying(ctx, came, func() (err error) { tx, err = s.begin(ctx); return err })
	if err != nil {
		return s.failed(ctx, operation, err, nil)
	}
	defer func() {
		tx.ended.Store(true)
		_ = tx.Rollback() // after a commit it does nothing; after a panic it undoes
	}()
	if err := do(context.WithValue(ctx, within{s.engine}, tx), &Store{engine: s.engine, tx: tx}); err != nil {
		return err
	}
	return s.failed(ctx, operation, tx.Commit(), nil)
}

func (s *Store) begin(ctx context.Context) (*transaction, error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	if s.dialect.Begin != "" {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf(s.dialect.Begin, s.dialect.Quote(s.layout.Users))); err != nil {
			return nil, errors.Join(err, tx.Rollback())
		}
	}
	return &transaction{Tx: tx}, nil
}

// savepoint is a transaction within this one. Savepoints of one name nest: the innermost is meant.
func (s *Store) savepoint(
	ctx context.Context, operation string, do func(context.Context, store.Store) error,
) (err error) {
	if _, err := s.tx.ExecContext(ctx, "SAVEPOINT latchkey"); err != nil {
		return s.failed(ctx, operation, err, nil)
	}
	undo := true
	defer func() { // also when do panics
		end := context.WithoutCancel(ctx)
		if undo {
			_, back := s.tx.ExecContext(end, "ROLLBACK TO SAVEPOINT latchkey")
			err = errors.Join(err, s.failed(end, operation, back, nil))
		}
		_, release := s.tx.ExecContext(end, "RELEASE SAVEPOINT latchkey")
		err = errors.Join(err, s.failed(end, operation, release, nil))
	}()
	err = do(ctx, s)
	undo = err != nil
	return err
}

// prepareAll prepares what is not prepared yet, because a transaction may hold the only connection. What fails here
// fails again, with its reason, where it is used.
func (s *Store) prepareAll(ctx context.Context) {
	for _, st := range s.all {
		if _, err := st.prepared(ctx, s.db); err != nil {
			return
		}
	}
}

// enter waits until a statement may run. It is followed by leave unless it returns an error.
func (s *Store) enter(ctx context.Context, k kind) error {
	if s.tx != nil || s.writing == nil {
		return ctx.Err()
	}
	if tx, ok := ctx.Value(within{s.engine}).(*transaction); ok && !tx.ended.Load() {
		return errors.New("the store was called within its own transaction: use the store that was handed to the transaction")
	}
	if k == reads {
		return ctx.Err()
	}
	select {
	case s.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) leave(k kind) {
	if s.tx == nil && s.writing != nil && k != reads {
		<-s.writing
	}
}
