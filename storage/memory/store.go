// Package memory stores users, accounts, sessions, tokens and records in memory, for tests and first steps. It is the
// reference implementation of [store.Store] and its optional interfaces. All data is lost when the process ends.
package memory

import (
	"context"

	"github.com/latchkey-go/latchkey/core/store"
)

// Store is a store in memory. It is safe for concurrent use. Create it with [New].
type Store struct {
	sharedData
	userStore
	accountStore
	sessionStore
	tokenStore
	authenticatorStore
	recordStore
	cleaner
}

// New returns an empty store.
func New() *Store {
	return storeOf(data{
		users: map[string]store.User{}, byEmail: map[string]string{}, accounts: map[accountKey]store.Account{},
		sessions: map[string]store.Session{}, tokens: map[tokenKey]store.VerificationToken{},
		authenticators: map[string]store.Authenticator{}, records: map[recordKey]store.Record{},
	})
}

// storeOf returns a Store with this data.
func storeOf(d data) *Store {
	s := &Store{sharedData: sharedData{data: d}}
	s.userStore, s.accountStore = userStore{&s.sharedData}, accountStore{&s.sharedData}
	s.sessionStore, s.tokenStore = sessionStore{&s.sharedData}, tokenStore{&s.sharedData}
	s.authenticatorStore, s.recordStore = authenticatorStore{&s.sharedData}, recordStore{&s.sharedData}
	s.cleaner = cleaner{&s.sharedData}
	return s
}

var (
	_ store.SessionStore           = (*Store)(nil)
	_ store.VerificationTokenStore = (*Store)(nil)
	_ store.AuthenticatorStore     = (*Store)(nil)
	_ store.AuthenticatorDeleter   = (*Store)(nil)
	_ store.Transactor             = (*Store)(nil)
	_ store.AccountStore           = (*Store)(nil)
	_ store.UserDeleter            = (*Store)(nil)
	_ store.EmailLister            = (*Store)(nil)
	_ store.SessionLister          = (*Store)(nil)
	_ store.Cleaner                = (*Store)(nil)
	_ store.RecordStore            = (*Store)(nil)
)

// InTransaction implements [store.Transactor]. It applies all changes of do, or none. Other calls wait until it
// returns.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	return s.locked(ctx, func(d *data) error {
		tx := storeOf(d.clone())
		if err := do(ctx, tx); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		*d = tx.data // a nested transaction may have replaced the data
		return nil
	})
}
