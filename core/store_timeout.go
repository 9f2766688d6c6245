package core

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/deadline"
)

// timeLimit is the maximum duration of a call to the store (Config.StoreTimeout). A transaction is one call.
type timeLimit time.Duration

// timed calls the store with a context that expires after limit, or at the caller's own deadline if that is earlier. It
// adds ErrStoreUnavailable to the error of a call that has exceeded its deadline, even if the store has not wrapped
// context.DeadlineExceeded. ErrNotFound and ErrConflict are results and stay unchanged.
func timed[T any](ctx context.Context, limit timeLimit, call func(context.Context) (T, error)) (T, error) {
	bounded := deadline.After(ctx, time.Duration(limit))
	defer bounded.End()
	v, err := call(bounded)
	return v, inTime(bounded, err)
}

func inTime(ctx context.Context, err error) error {
	var decision *Error // of a function in a transaction
	switch {
	case err == nil || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return store.Unavailable(err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && !errors.As(err, &decision):
		return store.Unavailable(err)
	}
	return err
}

// timedOnly is timed for calls that return only an error.
func timedOnly(ctx context.Context, limit timeLimit, call func(context.Context) error) error {
	_, err := timed(ctx, limit, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

// limited adds the time limit to all calls of the store.
func (v stores) limited(limit timeLimit) stores {
	v.Store = &timedStore{v.Store, limit}
	if v.sessions != nil {
		v.sessions = &timedSessions{v.sessions, limit}
	}
	if v.tokens != nil {
		v.tokens = &timedTokens{v.tokens, limit}
	}
	if v.tx != nil {
		v.tx = &timedTransactions{v.tx, limit}
	}
	if v.accounts != nil {
		v.accounts = &timedAccounts{v.accounts, limit}
	}
	if v.deleter != nil {
		v.deleter = &timedDeleter{v.deleter, limit}
	}
	if v.lister != nil {
		v.lister = &timedLister{v.lister, limit}
	}
	if v.passkeys != nil {
		v.passkeys = &timedPasskeys{v.passkeys, limit}
	}
	if v.unkey != nil {
		v.unkey = &timedAuthenticatorDeleter{v.unkey, limit}
	}
	if v.records != nil {
		v.records = &timedRecords{v.records, limit}
	}
	return v
}

type timedStore struct {
	Store
	limit timeLimit
}

func (s *timedStore) CreateUser(ctx context.Context, user *User) (*User, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (*User, error) { return s.Store.CreateUser(ctx, user) })
}

func (s *timedStore) User(ctx context.Context, id string) (*User, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (*User, error) { return s.Store.User(ctx, id) })
}

func (s *timedStore) UserByEmail(ctx context.Context, email string) (*User, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (*User, error) { return s.Store.UserByEmail(ctx, email) })
}

func (s *timedStore) UserByAccount(ctx context.Context, provider, providerAccountID string) (*User, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (*User, error) {
		return s.Store.UserByAccount(ctx, provider, providerAccountID)
	})
}

func (s *timedStore) UpdateUser(ctx context.Context, user *User) (*User, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (*User, error) { return s.Store.UpdateUser(ctx, user) })
}

func (s *timedStore) LinkAccount(ctx context.Context, account *Account) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error { return s.Store.LinkAccount(ctx, account) })
}

type timedSessions struct {
	store.SessionStore
	limit timeLimit
}

func (s *timedSessions) CreateSession(ctx context.Context, session *store.Session) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error { return s.SessionStore.CreateSession(ctx, session) })
}

func (s *timedSessions) SessionAndUser(ctx context.Context, token string) (*store.Session, *User, error) {
	bounded := deadline.After(ctx, time.Duration(s.limit)) // like timed, but without the cost of a closure
	defer bounded.End()
	session, user, err := s.SessionStore.SessionAndUser(bounded, token)
	return session, user, inTime(bounded, err)
}

func (s *timedSessions) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error {
		return s.SessionStore.UpdateSession(ctx, token, expires)
	})
}

func (s *timedSessions) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (*store.Session, error) {
		return s.SessionStore.DeleteSession(ctx, token)
	})
}

type timedTokens struct {
	store.VerificationTokenStore
	limit timeLimit
}

func (s *timedTokens) CreateVerificationToken(ctx context.Context, token *store.VerificationToken) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error {
		return s.VerificationTokenStore.CreateVerificationToken(ctx, token)
	})
}

func (s *timedTokens) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (*store.VerificationToken, error) {
		return s.VerificationTokenStore.UseVerificationToken(ctx, identifier, token)
	})
}

// timedTransactions does not wrap the store of a transaction: the context of the transaction already has the time
// limit.
type timedTransactions struct {
	store.Transactor
	limit timeLimit
}

func (s *timedTransactions) InTransaction(
	ctx context.Context, do func(ctx context.Context, tx Store) error,
) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error { return s.Transactor.InTransaction(ctx, do) })
}

type timedAccounts struct {
	store.AccountStore
	limit timeLimit
}

func (s *timedAccounts) Account(ctx context.Context, provider, providerAccountID string) (*Account, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (*Account, error) {
		return s.AccountStore.Account(ctx, provider, providerAccountID)
	})
}

func (s *timedAccounts) Accounts(ctx context.Context, userID string) ([]*Account, error) {
	return timed(ctx, s.limit, func(ctx context.Context) ([]*Account, error) {
		return s.AccountStore.Accounts(ctx, userID)
	})
}

func (s *timedAccounts) UpdateAccount(ctx context.Context, account *Account) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error { return s.AccountStore.UpdateAccount(ctx, account) })
}

func (s *timedAccounts) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error {
		return s.AccountStore.UnlinkAccount(ctx, provider, providerAccountID)
	})
}

type timedDeleter struct {
	store.UserDeleter
	limit timeLimit
}

func (s *timedDeleter) DeleteUser(ctx context.Context, id string) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error { return s.UserDeleter.DeleteUser(ctx, id) })
}

type timedLister struct {
	store.SessionLister
	limit timeLimit
}

func (s *timedLister) Sessions(ctx context.Context, userID string) ([]*store.Session, error) {
	return timed(ctx, s.limit, func(ctx context.Context) ([]*store.Session, error) {
		return s.SessionLister.Sessions(ctx, userID)
	})
}

func (s *timedLister) DeleteSessions(ctx context.Context, userID string) (int, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (int, error) {
		return s.SessionLister.DeleteSessions(ctx, userID)
	})
}

type timedPasskeys struct {
	store.AuthenticatorStore
	limit timeLimit
}

func (s *timedPasskeys) Authenticator(ctx context.Context, credentialID string) (*store.Authenticator, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (*store.Authenticator, error) {
		return s.AuthenticatorStore.Authenticator(ctx, credentialID)
	})
}

func (s *timedPasskeys) CreateAuthenticator(ctx context.Context, authenticator *store.Authenticator) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error {
		return s.AuthenticatorStore.CreateAuthenticator(ctx, authenticator)
	})
}

func (s *timedPasskeys) Authenticators(ctx context.Context, userID string) ([]*store.Authenticator, error) {
	return timed(ctx, s.limit, func(ctx context.Context) ([]*store.Authenticator, error) {
		return s.AuthenticatorStore.Authenticators(ctx, userID)
	})
}

func (s *timedPasskeys) UpdateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error {
		return s.AuthenticatorStore.UpdateAuthenticatorCounter(ctx, credentialID, counter)
	})
}

type timedAuthenticatorDeleter struct {
	store.AuthenticatorDeleter
	limit timeLimit
}

func (s *timedAuthenticatorDeleter) DeleteAuthenticator(ctx context.Context, credentialID string) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error {
		return s.AuthenticatorDeleter.DeleteAuthenticator(ctx, credentialID)
	})
}

type timedRecords struct {
	store.RecordStore
	limit timeLimit
}

func (s *timedRecords) CreateRecord(ctx context.Context, r *store.Record) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error { return s.RecordStore.CreateRecord(ctx, r) })
}

func (s *timedRecords) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (*store.Record, error) {
		return present(s.RecordStore.Record(ctx, kind, key))
	})
}

func (s *timedRecords) UpdateRecord(ctx context.Context, r *store.Record) error {
	return timedOnly(ctx, s.limit, func(ctx context.Context) error { return s.RecordStore.UpdateRecord(ctx, r) })
}

func (s *timedRecords) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (*store.Record, error) {
		return present(s.RecordStore.DeleteRecord(ctx, kind, key))
	})
}

func (s *timedRecords) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	return timed(ctx, s.limit, func(ctx context.Context) ([]*store.Record, error) {
		return s.RecordStore.UserRecords(ctx, userID, kind)
	})
}

func (s *timedRecords) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	return timed(ctx, s.limit, func(ctx context.Context) (int, error) {
		return s.RecordStore.DeleteUserRecords(ctx, userID, kind)
	})
}
