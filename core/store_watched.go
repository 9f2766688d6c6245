package core

import (
	"context"
	"time"

	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
)

// watchedBy makes Config.Observe receive all calls of the store, if it is set.
func (v stores) watchedBy(w watch) stores {
	if v.watch = w; !w.on() || v.Store == nil {
		return v
	}
	v.Store = watchedStore{v.Store, w}
	if v.sessions != nil {
		v.sessions = watchedSessions{v.sessions, w}
	}
	if v.tokens != nil {
		v.tokens = watchedTokens{v.tokens, w}
	}
	if v.tx != nil {
		v.tx = watchedTransactions{v.tx, w}
	}
	if v.accounts != nil {
		v.accounts = watchedAccounts{v.accounts, w}
	}
	if v.deleter != nil {
		v.deleter = watchedDeleter{v.deleter, w}
	}
	if v.lister != nil {
		v.lister = watchedLister{v.lister, w}
	}
	if v.passkeys != nil {
		v.passkeys = watchedPasskeys{v.passkeys, w}
	}
	if v.unkey != nil {
		v.unkey = watchedAuthenticatorDeleter{v.unkey, w}
	}
	if v.records != nil {
		v.records = watchedRecords{v.records, w}
	}
	return v
}

// inStore calls the store and reports the call to Config.Observe. name is the operation, as in the errors of stores.
func inStore[T any](ctx context.Context, w watch, name string, call func(context.Context) (T, error)) (T, error) {
	return watched(ctx, w, observe.Call{Target: observe.Store, Name: name}, call)
}

// inStoreOnly is inStore for calls that return only an error.
func inStoreOnly(ctx context.Context, w watch, name string, call func(context.Context) error) error {
	return watchedOnly(ctx, w, observe.Call{Target: observe.Store, Name: name}, call)
}

type watchedStore struct {
	Store
	watch watch
}

func (s watchedStore) CreateUser(ctx context.Context, user *User) (*User, error) {
	return inStore(ctx, s.watch, "create user", func(ctx context.Context) (*User, error) {
		return s.Store.CreateUser(ctx, user)
	})
}

func (s watchedStore) User(ctx context.Context, id string) (*User, error) {
	return inStore(ctx, s.watch, "read user", func(ctx context.Context) (*User, error) {
		return s.Store.User(ctx, id)
	})
}

func (s watchedStore) UserByEmail(ctx context.Context, email string) (*User, error) {
	return inStore(ctx, s.watch, "read user by e-mail", func(ctx context.Context) (*User, error) {
		return s.Store.UserByEmail(ctx, email)
	})
}

func (s watchedStore) UserByAccount(ctx context.Context, provider, providerAccountID string) (*User, error) {
	return inStore(ctx, s.watch, "read user by account", func(ctx context.Context) (*User, error) {
		return s.Store.UserByAccount(ctx, provider, providerAccountID)
	})
}

func (s watchedStore) UpdateUser(ctx context.Context, user *User) (*User, error) {
	return inStore(ctx, s.watch, "update user", func(ctx context.Context) (*User, error) {
		return s.Store.UpdateUser(ctx, user)
	})
}

func (s watchedStore) LinkAccount(ctx context.Context, account *Account) error {
	return inStoreOnly(ctx, s.watch, "link account", func(ctx context.Context) error {
		return s.Store.LinkAccount(ctx, account)
	})
}

type watchedSessions struct {
	store.SessionStore
	watch watch
}

func (s watchedSessions) CreateSession(ctx context.Context, session *store.Session) error {
	return inStoreOnly(ctx, s.watch, "create session", func(ctx context.Context) error {
		return s.SessionStore.CreateSession(ctx, session)
	})
}

func (s watchedSessions) SessionAndUser(ctx context.Context, token string) (*store.Session, *User, error) {
	var user *User
	session, err := inStore(ctx, s.watch, "read session", func(ctx context.Context) (session *store.Session, err error) {
		session, user, err = s.SessionStore.SessionAndUser(ctx, token)
		return session, err
	})
	return session, user, err
}

func (s watchedSessions) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return inStoreOnly(ctx, s.watch, "extend session", func(ctx context.Context) error {
		return s.SessionStore.UpdateSession(ctx, token, expires)
	})
}

func (s watchedSessions) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	return inStore(ctx, s.watch, "delete session", func(ctx context.Context) (*store.Session, error) {
		return s.SessionStore.DeleteSession(ctx, token)
	})
}

type watchedTokens struct {
	store.VerificationTokenStore
	watch watch
}

func (s watchedTokens) CreateVerificationToken(ctx context.Context, token *store.VerificationToken) error {
	return inStoreOnly(ctx, s.watch, "create verification token", func(ctx context.Context) error {
		return s.VerificationTokenStore.CreateVerificationToken(ctx, token)
	})
}

func (s watchedTokens) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	return inStore(ctx, s.watch, "use verification token", func(ctx context.Context) (*store.VerificationToken, error) {
		return s.VerificationTokenStore.UseVerificationToken(ctx, identifier, token)
	})
}

// watchedTransactions does not wrap the store of a transaction. The caller decides whether to observe its calls.
type watchedTransactions struct {
	store.Transactor
	watch watch
}

func (s watchedTransactions) InTransaction(ctx context.Context, do func(ctx context.Context, tx Store) error) error {
	return inStoreOnly(ctx, s.watch, "transaction", func(ctx context.Context) error {
		return s.Transactor.InTransaction(ctx, do)
	})
}

type watchedAccounts struct {
	store.AccountStore
	watch watch
}

func (s watchedAccounts) Account(ctx context.Context, provider, providerAccountID string) (*Account, error) {
	return inStore(ctx, s.watch, "read account", func(ctx context.Context) (*Account, error) {
		return s.AccountStore.Account(ctx, provider, providerAccountID)
	})
}

func (s watchedAccounts) Accounts(ctx context.Context, userID string) ([]*Account, error) {
	return inStore(ctx, s.watch, "list accounts", func(ctx context.Context) ([]*Account, error) {
		return s.AccountStore.Accounts(ctx, userID)
	})
}

func (s watchedAccounts) UpdateAccount(ctx context.Context, account *Account) error {
	return inStoreOnly(ctx, s.watch, "update account", func(ctx context.Context) error {
		return s.AccountStore.UpdateAccount(ctx, account)
	})
}

func (s watchedAccounts) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	return inStoreOnly(ctx, s.watch, "unlink account", func(ctx context.Context) error {
		return s.AccountStore.UnlinkAccount(ctx, provider, providerAccountID)
	})
}

type watchedDeleter struct {
	store.UserDeleter
	watch watch
}

func (s watchedDeleter) DeleteUser(ctx context.Context, id string) error {
	return inStoreOnly(ctx, s.watch, "delete user", func(ctx context.Context) error {
		return s.UserDeleter.DeleteUser(ctx, id)
	})
}

type watchedLister struct {
	store.SessionLister
	watch watch
}

func (s watchedLister) Sessions(ctx context.Context, userID string) ([]*store.Session, error) {
	return inStore(ctx, s.watch, "list sessions", func(ctx context.Context) ([]*store.Session, error) {
		return s.SessionLister.Sessions(ctx, userID)
	})
}

func (s watchedLister) DeleteSessions(ctx context.Context, userID string) (int, error) {
	return inStore(ctx, s.watch, "delete sessions", func(ctx context.Context) (int, error) {
		return s.SessionLister.DeleteSessions(ctx, userID)
	})
}

type watchedPasskeys struct {
	store.AuthenticatorStore
	watch watch
}

func (s watchedPasskeys) Authenticator(ctx context.Context, credentialID string) (*store.Authenticator, error) {
	return inStore(ctx, s.watch, "read authenticator", func(ctx context.Context) (*store.Authenticator, error) {
		return s.AuthenticatorStore.Authenticator(ctx, credentialID)
	})
}

func (s watchedPasskeys) CreateAuthenticator(ctx context.Context, authenticator *store.Authenticator) error {
	return inStoreOnly(ctx, s.watch, "create authenticator", func(ctx context.Context) error {
		return s.AuthenticatorStore.CreateAuthenticator(ctx, authenticator)
	})
}

func (s watchedPasskeys) Authenticators(ctx context.Context, userID string) ([]*store.Authenticator, error) {
	return inStore(ctx, s.watch, "list authenticators", func(ctx context.Context) ([]*store.Authenticator, error) {
		return s.AuthenticatorStore.Authenticators(ctx, userID)
	})
}

func (s watchedPasskeys) UpdateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) error {
	return inStoreOnly(ctx, s.watch, "update authenticator", func(ctx context.Context) error {
		return s.AuthenticatorStore.UpdateAuthenticatorCounter(ctx, credentialID, counter)
	})
}

type watchedAuthenticatorDeleter struct {
	store.AuthenticatorDeleter
	watch watch
}

func (s watchedAuthenticatorDeleter) DeleteAuthenticator(ctx context.Context, credentialID string) error {
	return inStoreOnly(ctx, s.watch, "delete authenticator", func(ctx context.Context) error {
		return s.AuthenticatorDeleter.DeleteAuthenticator(ctx, credentialID)
	})
}

type watchedRecords struct {
	store.RecordStore
	watch watch
}

func (s watchedRecords) CreateRecord(ctx context.Context, r *store.Record) error {
	return inStoreOnly(ctx, s.watch, "create record", func(ctx context.Context) error {
		return s.RecordStore.CreateRecord(ctx, r)
	})
}

func (s watchedRecords) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	return inStore(ctx, s.watch, "read record", func(ctx context.Context) (*store.Record, error) {
		return s.RecordStore.Record(ctx, kind, key)
	})
}

func (s watchedRecords) UpdateRecord(ctx context.Context, r *store.Record) error {
	return inStoreOnly(ctx, s.watch, "update record", func(ctx context.Context) error {
		return s.RecordStore.UpdateRecord(ctx, r)
	})
}

func (s watchedRecords) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	return inStore(ctx, s.watch, "delete record", func(ctx context.Context) (*store.Record, error) {
		return s.RecordStore.DeleteRecord(ctx, kind, key)
	})
}

func (s watchedRecords) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	return inStore(ctx, s.watch, "list records", func(ctx context.Context) ([]*store.Record, error) {
		return s.RecordStore.UserRecords(ctx, userID, kind)
	})
}

func (s watchedRecords) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	return inStore(ctx, s.watch, "delete records", func(ctx context.Context) (int, error) {
		return s.RecordStore.DeleteUserRecords(ctx, userID, kind)
	})
}

type watchedCleaner struct {
	store.Cleaner
	watch watch
}

func (s watchedCleaner) DeleteExpired(ctx context.Context, now time.Time) (int, error) {
	return inStore(ctx, s.watch, "delete expired sessions", func(ctx context.Context) (int, error) {
		return s.Cleaner.DeleteExpired(ctx, now)
	})
}
