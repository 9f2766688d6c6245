package keyvalue

import (
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/core/store"
)

// Store is a store on a key-value database: a [store.Store] that implements all optional interfaces too. It is safe for
// concurrent use. Create it with the package of the database.
//
// Errors begin with the database and the operation, and never contain a value. A duplicate key is [store.ErrConflict],
// and a missing record is [store.ErrNotFound].
type Store struct {
	db *database
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
	_ store.RecordLister           = (*Store)(nil)
	_ store.RecordPairReader       = (*Store)(nil)
	_ store.UserFinder             = (*Store)(nil)
)

// New returns a Store on an engine. name is the prefix of its errors. New sends nothing to the engine.
func New(name string, engine Engine) *Store { return &Store{db: &database{name, engine}} }

// Close closes the engine. A handle from the caller stays open.
func (s *Store) Close() error {
	if s.tx != nil {
		return fmt.Errorf("%s: close: this is the store of a transaction", s.db.name)
	}
	if err := s.db.engine.Close(); err != nil {
		return fmt.Errorf("%s: close: %w", s.db.name, err)
	}
	return nil
}

// Ping checks the connection to the database.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.db.engine.Read(ctx, Query{Keys: []string{"ping"}})
	return s.failed(ctx, "ping", err)
}
