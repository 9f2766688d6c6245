// Package storecalls passes each call of a store through one function, which can limit, observe and protect it.
package storecalls

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// Call makes a call of the store. name is the operation, as in the errors of stores.
type Call func(ctx context.Context, name string, call func(context.Context) error) error

// Stores contains the interfaces of a store, or of a transaction. A field is nil if the store does not implement the
// interface. Each field has only the methods of its interface, so that a type assertion finds no other.
type Stores struct {
	store.Store
	Sessions       store.SessionStore
	Tokens         store.VerificationTokenStore
	Transactor     store.Transactor
	Accounts       store.AccountStore
	UserDeleter    store.UserDeleter
	SessionLister  store.SessionLister
	Passkeys       store.AuthenticatorStore
	PasskeyDeleter store.AuthenticatorDeleter
	Records        store.RecordStore
	RecordLister   store.RecordLister
	RecordPairs    store.RecordPairReader
	UserFinder     store.UserFinder
	Cleaner        store.Cleaner
}

// Linked returns the accounts of a user, or none if the store cannot list them.
func (v *Stores) Linked(ctx context.Context, userID string) ([]*store.Account, error) {
	if v.Accounts == nil {
		return nil, nil
	}
	return v.Accounts.Accounts(ctx, userID)
}

// New returns the interfaces that s implements. Their methods use call. A method that returns one record returns an
// error if the store returns neither a record nor an error.
func New(s store.Store, call Call) (v Stores) {
	d := &decorator{Store: s, call: call}
	v.Store = struct{ store.Store }{d}
	if d.SessionStore, _ = s.(store.SessionStore); d.SessionStore != nil {
		v.Sessions = struct{ store.SessionStore }{d}
	}
	if d.VerificationTokenStore, _ = s.(store.VerificationTokenStore); d.VerificationTokenStore != nil {
		v.Tokens = struct{ store.VerificationTokenStore }{d}
	}
	if d.Transactor, _ = s.(store.Transactor); d.Transactor != nil {
		v.Transactor = struct{ store.Transactor }{d}
	}
	if d.AccountStore, _ = s.(store.AccountStore); d.AccountStore != nil {
		v.Accounts = struct{ store.AccountStore }{d}
	}
	if d.UserDeleter, _ = s.(store.UserDeleter); d.UserDeleter != nil {
		v.UserDeleter = struct{ store.UserDeleter }{d}
	}
	if d.SessionLister, _ = s.(store.SessionLister); d.SessionLister != nil {
		v.SessionLister = struct{ store.SessionLister }{d}
	}
	if d.AuthenticatorStore, _ = s.(store.AuthenticatorStore); d.AuthenticatorStore != nil {
		v.Passkeys = struct{ store.AuthenticatorStore }{d}
	}
	if d.AuthenticatorDeleter, _ = s.(store.AuthenticatorDeleter); d.AuthenticatorDeleter != nil {
		v.PasskeyDeleter = struct{ store.AuthenticatorDeleter }{d}
	}
	if d.RecordStore, _ = s.(store.RecordStore); d.RecordStore != nil {
		v.Records = struct{ store.RecordStore }{d}
	}
	if d.RecordLister, _ = s.(store.RecordLister); d.RecordLister != nil {
		v.RecordLister = struct{ store.RecordLister }{d}
	}
	if d.RecordPairReader, _ = s.(store.RecordPairReader); d.RecordPairReader != nil {
		v.RecordPairs = struct{ store.RecordPairReader }{d}
	}
	if d.UserFinder, _ = s.(store.UserFinder); d.UserFinder != nil {
		v.UserFinder = struct{ store.UserFinder }{d}
	}
	if d.Cleaner, _ = s.(store.Cleaner); d.Cleaner != nil {
		v.Cleaner = struct{ store.Cleaner }{d}
	}
	return v
}

// decorator is added to every call of the store. An embedded interface is nil if the store does not implement it.
type decorator struct {
	store.Store
	store.SessionStore
	store.VerificationTokenStore
	store.Transactor
	store.AccountStore
	store.UserDeleter
	store.SessionLister
	store.AuthenticatorStore
	store.AuthenticatorDeleter
	store.RecordStore
	store.RecordLister
	store.RecordPairReader
	store.UserFinder
	store.Cleaner

	call Call
}

func decorate[T any](
	ctx context.Context, d *decorator, name string, call func(context.Context) (T, error),
) (v T, err error) {
	err = d.call(ctx, name, func(ctx context.Context) (err error) {
		v, err = call(ctx)
		return err
	})
	return v, err
}

// Present turns "no record and no error" into an error. The contract of stores forbids that result.
func Present[T any](v *T, err error) (*T, error) {
	if err == nil && v == nil {
		err = errors.New("the store returned neither a record nor ErrNotFound")
	}
	return v, err
}

func (d *decorator) CreateUser(ctx context.Context, user *store.User) (*store.User, error) {
	return decorate(ctx, d, "create user", func(ctx context.Context) (*store.User, error) {
		return Present(d.Store.CreateUser(ctx, user))
	})
}

func (d *decorator) User(ctx context.Context, id string) (*store.User, error) {
	return decorate(ctx, d, "read user", func(ctx context.Context) (*store.User, error) {
		return Present(d.Store.User(ctx, id))
	})
}

func (d *decorator) UserByEmail(ctx context.Context, email string) (*store.User, error) {
	return decorate(ctx, d, "read user by e-mail", func(ctx context.Context) (*store.User, error) {
		return Present(d.Store.UserByEmail(ctx, email))
	})
}

func (d *decorator) UserByAccount(ctx context.Context, provider, providerAccountID string) (*store.User, error) {
	return decorate(ctx, d, "read user by account", func(ctx context.Context) (*store.User, error) {
		return Present(d.Store.UserByAccount(ctx, provider, providerAccountID))
	})
}

func (d *decorator) UpdateUser(ctx context.Context, user *store.User) (*store.User, error) {
	return decorate(ctx, d, "update user", func(ctx context.Context) (*store.User, error) {
		return Present(d.Store.UpdateUser(ctx, user))
	})
}

func (d *decorator) LinkAccount(ctx context.Context, account *store.Account) error {
	return d.call(ctx, "link account", func(ctx context.Context) error {
		return d.Store.LinkAccount(ctx, account)
	})
}

func (d *decorator) CreateSession(ctx context.Context, session *store.Session) error {
	return d.call(ctx, "create session", func(ctx context.Context) error {
		return d.SessionStore.CreateSession(ctx, session)
	})
}

func (d *decorator) SessionAndUser(ctx context.Context, token string) (*store.Session, *store.User, error) {
	var user *store.User
	session, err := decorate(ctx, d, "read session", func(ctx context.Context) (session *store.Session, err error) {
		session, user, err = d.SessionStore.SessionAndUser(ctx, token)
		if err == nil && (session == nil || user == nil) {
			err = errors.New("the store returned neither a session nor ErrNotFound")
		}
		return session, err
	})
	return session, user, err
}

func (d *decorator) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return d.call(ctx, "extend session", func(ctx context.Context) error {
		return d.SessionStore.UpdateSession(ctx, token, expires)
	})
}

func (d *decorator) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	return decorate(ctx, d, "delete session", func(ctx context.Context) (*store.Session, error) {
		return d.SessionStore.DeleteSession(ctx, token)
	})
}

func (d *decorator) CreateVerificationToken(ctx context.Context, token *store.VerificationToken) error {
	return d.call(ctx, "create verification token", func(ctx context.Context) error {
		return d.VerificationTokenStore.CreateVerificationToken(ctx, token)
	})
}

func (d *decorator) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	return decorate(ctx, d, "use verification token", func(ctx context.Context) (*store.VerificationToken, error) {
		return Present(d.VerificationTokenStore.UseVerificationToken(ctx, identifier, token))
	})
}

// InTransaction passes the store of the transaction to do unchanged.
func (d *decorator) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	return d.call(ctx, "transaction", func(ctx context.Context) error {
		return d.Transactor.InTransaction(ctx, do)
	})
}

func (d *decorator) Account(ctx context.Context, provider, providerAccountID string) (*store.Account, error) {
	return decorate(ctx, d, "read account", func(ctx context.Context) (*store.Account, error) {
		return Present(d.AccountStore.Account(ctx, provider, providerAccountID))
	})
}

func (d *decorator) Accounts(ctx context.Context, userID string) ([]*store.Account, error) {
	return decorate(ctx, d, "list accounts", func(ctx context.Context) ([]*store.Account, error) {
		return d.AccountStore.Accounts(ctx, userID)
	})
}

func (d *decorator) UpdateAccount(ctx context.Context, account *store.Account) error {
	return d.call(ctx, "update account", func(ctx context.Context) error {
		return d.AccountStore.UpdateAccount(ctx, account)
	})
}

func (d *decorator) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	return d.call(ctx, "unlink account", func(ctx context.Context) error {
		return d.AccountStore.UnlinkAccount(ctx, provider, providerAccountID)
	})
}

func (d *decorator) DeleteUser(ctx context.Context, id string) error {
	return d.call(ctx, "delete user", func(ctx context.Context) error {
		return d.UserDeleter.DeleteUser(ctx, id)
	})
}

func (d *decorator) Sessions(ctx context.Context, userID string) ([]*store.Session, error) {
	return decorate(ctx, d, "list sessions", func(ctx context.Context) ([]*store.Session, error) {
		return d.SessionLister.Sessions(ctx, userID)
	})
}

func (d *decorator) DeleteSessions(ctx context.Context, userID string) (int, error) {
	return decorate(ctx, d, "delete sessions", func(ctx context.Context) (int, error) {
		return d.SessionLister.DeleteSessions(ctx, userID)
	})
}

func (d *decorator) Authenticator(ctx context.Context, credentialID string) (*store.Authenticator, error) {
	return decorate(ctx, d, "read authenticator", func(ctx context.Context) (*store.Authenticator, error) {
		return Present(d.AuthenticatorStore.Authenticator(ctx, credentialID))
	})
}

func (d *decorator) CreateAuthenticator(ctx context.Context, authenticator *store.Authenticator) error {
	return d.call(ctx, "create authenticator", func(ctx context.Context) error {
		return d.AuthenticatorStore.CreateAuthenticator(ctx, authenticator)
	})
}

func (d *decorator) Authenticators(ctx context.Context, userID string) ([]*store.Authenticator, error) {
	return decorate(ctx, d, "list authenticators", func(ctx context.Context) ([]*store.Authenticator, error) {
		return d.AuthenticatorStore.Authenticators(ctx, userID)
	})
}

func (d *decorator) UpdateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) error {
	return d.call(ctx, "update authenticator", func(ctx context.Context) error {
		return d.AuthenticatorStore.UpdateAuthenticatorCounter(ctx, credentialID, counter)
	})
}

func (d *decorator) DeleteAuthenticator(ctx context.Context, credentialID string) error {
	return d.call(ctx, "delete authenticator", func(ctx context.Context) error {
		return d.AuthenticatorDeleter.DeleteAuthenticator(ctx, credentialID)
	})
}

func (d *decorator) CreateRecord(ctx context.Context, r *store.Record) error {
	return d.call(ctx, "create record", func(ctx context.Context) error {
		return d.RecordStore.CreateRecord(ctx, r)
	})
}

func (d *decorator) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	return decorate(ctx, d, "read record", func(ctx context.Context) (*store.Record, error) {
		return Present(d.RecordStore.Record(ctx, kind, key))
	})
}

func (d *decorator) UpdateRecord(ctx context.Context, r *store.Record) error {
	return d.call(ctx, "update record", func(ctx context.Context) error {
		return d.RecordStore.UpdateRecord(ctx, r)
	})
}

func (d *decorator) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	return decorate(ctx, d, "delete record", func(ctx context.Context) (*store.Record, error) {
		return Present(d.RecordStore.DeleteRecord(ctx, kind, key))
	})
}

func (d *decorator) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	return decorate(ctx, d, "list records", func(ctx context.Context) ([]*store.Record, error) {
		return d.RecordStore.UserRecords(ctx, userID, kind)
	})
}

func (d *decorator) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	return decorate(ctx, d, "delete records", func(ctx context.Context) (int, error) {
		return d.RecordStore.DeleteUserRecords(ctx, userID, kind)
	})
}

func (d *decorator) DeleteExpired(ctx context.Context, now time.Time) (int, error) {
	return decorate(ctx, d, "delete expired sessions", func(ctx context.Context) (int, error) {
		return d.Cleaner.DeleteExpired(ctx, now)
	})
}

func (d *decorator) ListRecords(
	ctx context.Context, kind, prefix, cursor string, limit int,
) (list []*store.Record, next string, err error) {
	list, err = decorate(ctx, d, "list records", func(ctx context.Context) (list []*store.Record, err error) {
		list, next, err = d.RecordLister.ListRecords(ctx, kind, prefix, cursor, limit)
		return list, err
	})
	return list, next, err
}

func (d *decorator) RecordPair(ctx context.Context, first, second store.RecordName) (a, b *store.Record, err error) {
	a, err = decorate(ctx, d, "read records", func(ctx context.Context) (_ *store.Record, err error) {
		a, b, err = d.RecordPairReader.RecordPair(ctx, first, second)
		return a, err
	})
	return a, b, err
}

func (d *decorator) ListUsers(
	ctx context.Context, cursor string, limit int,
) (list []*store.User, next string, err error) {
	list, err = decorate(ctx, d, "list users", func(ctx context.Context) (list []*store.User, err error) {
		list, next, err = d.UserFinder.ListUsers(ctx, cursor, limit)
		return list, err
	})
	return list, next, err
}

func (d *decorator) ListUsersByEmail(
	ctx context.Context, prefix, cursor string, limit int,
) (list []*store.User, next string, err error) {
	list, err = decorate(ctx, d, "list users by e-mail", func(ctx context.Context) (list []*store.User, err error) {
		list, next, err = d.UserFinder.ListUsersByEmail(ctx, prefix, cursor, limit)
		return list, err
	})
	return list, next, err
}
