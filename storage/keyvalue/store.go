package keyvalue

import (
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/core/store"
)

// Store is a store on an engine that knows keys and values only: a [store.Store] with all the interfaces beside it. It
// is safe for concurrent use; the package of an engine makes it.
//
// Errors begin with the engine and the operation and never hold a value. A taken key is [store.ErrConflict], absence is
// [store.ErrNotFound].
type Store struct {
	runner
	userStore
	accountStore
	sessionStore
	tokenStore
	passkeyStore
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
)

// New returns a Store on an engine, whose name begins its errors. It asks the engine nothing.
func New(name string, engine Engine) *Store { return storeOn(runner{name: name, engine: engine}) }

// storeOn is the Store whose operations r runs.
func storeOn(r runner) *Store {
	return &Store{
		r, userStore{r}, accountStore{r}, sessionStore{r}, tokenStore{r}, passkeyStore{r}, recordStore{r}, cleaner{r},
	}
}

// Close releases what the engine opened itself: a handle that was given stays open.
func (s *Store) Close() error {
	if s.tx != nil {
		return fmt.Errorf("%s: close: this is the store of a transaction", s.name)
	}
	if err := s.engine.Close(); err != nil {
		return fmt.Errorf("%s: close: %w", s.name, err)
	}
	return nil
}

// Ping reaches for the engine.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.engine.Read(ctx, Query{Keys: []string{"ping"}})
	return s.failed(ctx, "ping", err)
}

// Files returns the paths of the files that hold everything, for tools that examine permissions. It returns none if the
// engine has none or does not say.
func (s *Store) Files(context.Context) ([]string, error) {
	if kept, ok := s.engine.(interface{ Files() []string }); ok {
		return kept.Files(), nil
	}
	return nil, nil
}
