package core

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/random"
)

// Package store defines the contract of stores and depends on no router, database driver or provider. The types that
// applications pass to New, receive in callbacks and read from sessions have aliases here, so that applications need
// one import. The types that only authors of stores need are in package store.

// The records that applications use.
type (
	// User is a person, as described by a profile, a store or a session.
	User = store.User
	// Account links a user to their account at a provider.
	Account = store.Account
	// Members are the additional JSON members of a session, user, token or account.
	Members = store.Members
	// Secret is a text that must never be printed.
	Secret = store.Secret
	// ProviderType is the type of a provider and of its accounts.
	ProviderType = store.ProviderType
	// Store stores users and their accounts, which every flow needs. Package core/store defines further interfaces that a
	// store can implement.
	Store = store.Store
)

// The provider types.
const (
	TypeOAuth       = store.TypeOAuth
	TypeOIDC        = store.TypeOIDC
	TypeEmail       = store.TypeEmail
	TypeCredentials = store.TypeCredentials
	TypeWebAuthn    = store.TypeWebAuthn
)

// The errors of stores. The first two are not failures.
var (
	// ErrNotFound is returned by a store if the record does not exist.
	ErrNotFound = store.ErrNotFound
	// ErrConflict is returned by a store if the record exists already, or was changed since it was read.
	ErrConflict = store.ErrConflict
	// ErrStoreUnavailable is wrapped by the errors of a store whose database could not be reached or did not respond in
	// time.
	ErrStoreUnavailable = store.ErrUnavailable
)

// NewID returns a new ID for a user that the application creates in the store itself: a random UUID (RFC 9562 version
// 4) in lower case, which every store accepts.
func NewID() string {
	id, _ := random.UUID(rand.Reader) // crypto/rand never fails
	return id
}

// stores contains the optional interfaces of the configured store, or of a transaction. A field is nil if the store
// does not implement it.
type stores struct {
	Store
	given    Store // without decorators
	sessions store.SessionStore
	tokens   store.VerificationTokenStore
	tx       store.Transactor
	accounts store.AccountStore
	deleter  store.UserDeleter
	lister   store.SessionLister
	passkeys store.AuthenticatorStore
	unkey    store.AuthenticatorDeleter
	records  store.RecordStore
	watch    watch
}

func newStores(s Store) stores {
	v := stores{Store: s, given: s}
	v.sessions, _ = s.(store.SessionStore)
	v.tokens, _ = s.(store.VerificationTokenStore)
	v.tx, _ = s.(store.Transactor)
	v.accounts, _ = s.(store.AccountStore)
	v.deleter, _ = s.(store.UserDeleter)
	v.lister, _ = s.(store.SessionLister)
	v.passkeys, _ = s.(store.AuthenticatorStore)
	v.unkey, _ = s.(store.AuthenticatorDeleter)
	v.records, _ = s.(store.RecordStore)
	return v
}

func userByAccount(ctx context.Context, s Store, account *Account) (*User, error) {
	return guarded("Store.UserByAccount", func() (*User, error) {
		return present(s.UserByAccount(ctx, account.Provider, account.ProviderAccountID))
	})
}

func userByEmail(ctx context.Context, s Store, email string) (*User, error) {
	if email == "" {
		return nil, ErrNotFound
	}
	return guarded("Store.UserByEmail", func() (*User, error) { return present(s.UserByEmail(ctx, email)) })
}

// present turns "no record and no error" into an error. The contract of stores forbids that result.
func present[T any](v *T, err error) (*T, error) {
	if err == nil && v == nil {
		err = errors.New("the store returned neither a record nor ErrNotFound")
	}
	return v, err
}
