package core

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
)

// stores contains the interfaces of the configured store, or of a transaction, that core calls. A field is nil if the
// store does not implement the interface. Each field has only the methods of its interface, so that a type assertion
// finds no other. All calls pass through a [decorator].
type stores struct {
	Store
	given    Store // without decorator
	sessions store.SessionStore
	tokens   store.VerificationTokenStore
	tx       store.Transactor
	accounts store.AccountStore
	deleter  store.UserDeleter
	lister   store.SessionLister
	passkeys store.AuthenticatorStore
	unkey    store.AuthenticatorDeleter
	records  store.RecordStore
	listing  store.RecordLister
	watch    watch
}

// newStores decorates the interfaces that s implements. s may be nil. limit is Config.StoreTimeout; 0 means none.
func newStores(s Store, w watch, limit time.Duration) stores {
	v := stores{given: s, watch: w}
	if s == nil {
		return v
	}
	d := &decorator{Store: s, watch: w, limit: limit}
	v.Store = struct{ Store }{d}
	if d.SessionStore, _ = s.(store.SessionStore); d.SessionStore != nil {
		v.sessions = struct{ store.SessionStore }{d}
	}
	if d.VerificationTokenStore, _ = s.(store.VerificationTokenStore); d.VerificationTokenStore != nil {
		v.tokens = struct{ store.VerificationTokenStore }{d}
	}
	if d.Transactor, _ = s.(store.Transactor); d.Transactor != nil {
		v.tx = struct{ store.Transactor }{d}
	}
	if d.AccountStore, _ = s.(store.AccountStore); d.AccountStore != nil {
		v.accounts = struct{ store.AccountStore }{d}
	}
	if d.UserDeleter, _ = s.(store.UserDeleter); d.UserDeleter != nil {
		v.deleter = struct{ store.UserDeleter }{d}
	}
	if d.SessionLister, _ = s.(store.SessionLister); d.SessionLister != nil {
		v.lister = struct{ store.SessionLister }{d}
	}
	if d.AuthenticatorStore, _ = s.(store.AuthenticatorStore); d.AuthenticatorStore != nil {
		v.passkeys = struct{ store.AuthenticatorStore }{d}
	}
	if d.AuthenticatorDeleter, _ = s.(store.AuthenticatorDeleter); d.AuthenticatorDeleter != nil {
		v.unkey = struct{ store.AuthenticatorDeleter }{d}
	}
	if d.RecordStore, _ = s.(store.RecordStore); d.RecordStore != nil {
		v.records = struct{ store.RecordStore }{d}
	}
	if d.RecordLister, _ = s.(store.RecordLister); d.RecordLister != nil {
		v.listing = struct{ store.RecordLister }{d}
	}
	return v
}

// decorator is added to every call of the store: a time limit, the report to Config.Observe, recovery from panics and,
// for methods that return one record, the check that there is a record or an error. An embedded interface is nil if the
// store does not implement it.
type decorator struct {
	Store
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
	store.Cleaner

	watch watch
	limit time.Duration // the maximum duration of a call; a transaction is one call; 0 means no limit
}

// decorate makes a call. name is the operation, as in the errors of stores. The recovery is inside and the observation
// outside, so that a call that panics is reported as failed.
func decorate[T any](
	ctx context.Context, d *decorator, name string, call func(context.Context) (T, error),
) (T, error) {
	return watched(ctx, d.watch, observe.Call{Target: observe.Store, Name: name}, func(ctx context.Context) (T, error) {
		return guarded("Store", func() (T, error) { return timed(ctx, d.limit, call) })
	})
}

// decorateOnly is decorate for calls that return only an error.
func decorateOnly(ctx context.Context, d *decorator, name string, call func(context.Context) error) error {
	_, err := decorate(ctx, d, name, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

func userByAccount(ctx context.Context, s Store, account *Account) (*User, error) {
	return s.UserByAccount(ctx, account.Provider, account.ProviderAccountID)
}

func userByEmail(ctx context.Context, s Store, email string) (*User, error) {
	if email == "" {
		return nil, ErrNotFound
	}
	return present(s.UserByEmail(ctx, email)) // s may be the application's (UserByMailbox)
}

// present turns "no record and no error" into an error. The contract of stores forbids that result.
func present[T any](v *T, err error) (*T, error) {
	if err == nil && v == nil {
		err = errors.New("the store returned neither a record nor ErrNotFound")
	}
	return v, err
}

// timed makes a call with a context that expires after limit, or at the caller's own deadline if that is earlier. It
// adds ErrStoreUnavailable to the error of a call that has exceeded its deadline, even if the store has not wrapped
// context.DeadlineExceeded. ErrNotFound and ErrConflict are results and stay unchanged.
func timed[T any](ctx context.Context, limit time.Duration, call func(context.Context) (T, error)) (T, error) {
	if limit <= 0 {
		return call(ctx)
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	v, err := call(bounded)
	var decision *Error // of a function in a transaction
	switch {
	case err == nil || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict):
	case errors.Is(err, context.DeadlineExceeded),
		errors.Is(bounded.Err(), context.DeadlineExceeded) && !errors.As(err, &decision):
		err = store.Unavailable(err)
	}
	return v, err
}

func (d *decorator) CreateUser(ctx context.Context, user *User) (*User, error) {
	return decorate(ctx, d, "create user", func(ctx context.Context) (*User, error) {
		return present(d.Store.CreateUser(ctx, user))
	})
}

func (d *decorator) User(ctx context.Context, id string) (*User, error) {
	return decorate(ctx, d, "read user", func(ctx context.Context) (*User, error) {
		return present(d.Store.User(ctx, id))
	})
}

func (d *decorator) UserByEmail(ctx context.Context, email string) (*User, error) {
	return decorate(ctx, d, "read user by e-mail", func(ctx context.Context) (*User, error) {
		return present(d.Store.UserByEmail(ctx, email))
	})
}

func (d *decorator) UserByAccount(ctx context.Context, provider, providerAccountID string) (*User, error) {
	return decorate(ctx, d, "read user by account", func(ctx context.Context) (*User, error) {
		return present(d.Store.UserByAccount(ctx, provider, providerAccountID))
	})
}

func (d *decorator) UpdateUser(ctx context.Context, user *User) (*User, error) {
	return decorate(ctx, d, "update user", func(ctx context.Context) (*User, error) {
		return present(d.Store.UpdateUser(ctx, user))
	})
}

func (d *decorator) LinkAccount(ctx context.Context, account *Account) error {
	return decorateOnly(ctx, d, "link account", func(ctx context.Context) error {
		return d.Store.LinkAccount(ctx, account)
	})
}

func (d *decorator) CreateSession(ctx context.Context, session *store.Session) error {
	return decorateOnly(ctx, d, "create session", func(ctx context.Context) error {
		return d.SessionStore.CreateSession(ctx, session)
	})
}

func (d *decorator) SessionAndUser(ctx context.Context, token string) (*store.Session, *User, error) {
	var user *User
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
	return decorateOnly(ctx, d, "extend session", func(ctx context.Context) error {
		return d.SessionStore.UpdateSession(ctx, token, expires)
	})
}

func (d *decorator) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	return decorate(ctx, d, "delete session", func(ctx context.Context) (*store.Session, error) {
		return d.SessionStore.DeleteSession(ctx, token)
	})
}

func (d *decorator) CreateVerificationToken(ctx context.Context, token *store.VerificationToken) error {
	return decorateOnly(ctx, d, "create verification token", func(ctx context.Context) error {
		return d.VerificationTokenStore.CreateVerificationToken(ctx, token)
	})
}

func (d *decorator) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	return decorate(ctx, d, "use verification token", func(ctx context.Context) (*store.VerificationToken, error) {
		return present(d.VerificationTokenStore.UseVerificationToken(ctx, identifier, token))
	})
}

// InTransaction does not decorate the store that it passes to do. The context of do has the time limit of the
// transaction. Core decorates that store itself, to observe it and to recover from panics; plugins get it undecorated.
func (d *decorator) InTransaction(ctx context.Context, do func(ctx context.Context, tx Store) error) error {
	return decorateOnly(ctx, d, "transaction", func(ctx context.Context) error {
		return d.Transactor.InTransaction(ctx, do)
	})
}

func (d *decorator) Account(ctx context.Context, provider, providerAccountID string) (*Account, error) {
	return decorate(ctx, d, "read account", func(ctx context.Context) (*Account, error) {
		return present(d.AccountStore.Account(ctx, provider, providerAccountID))
	})
}

func (d *decorator) Accounts(ctx context.Context, userID string) ([]*Account, error) {
	return decorate(ctx, d, "list accounts", func(ctx context.Context) ([]*Account, error) {
		return d.AccountStore.Accounts(ctx, userID)
	})
}

func (d *decorator) UpdateAccount(ctx context.Context, account *Account) error {
	return decorateOnly(ctx, d, "update account", func(ctx context.Context) error {
		return d.AccountStore.UpdateAccount(ctx, account)
	})
}

func (d *decorator) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	return decorateOnly(ctx, d, "unlink account", func(ctx context.Context) error {
		return d.AccountStore.UnlinkAccount(ctx, provider, providerAccountID)
	})
}

func (d *decorator) DeleteUser(ctx context.Context, id string) error {
	return decorateOnly(ctx, d, "delete user", func(ctx context.Context) error {
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
		return present(d.AuthenticatorStore.Authenticator(ctx, credentialID))
	})
}

func (d *decorator) CreateAuthenticator(ctx context.Context, authenticator *store.Authenticator) error {
	return decorateOnly(ctx, d, "create authenticator", func(ctx context.Context) error {
		return d.AuthenticatorStore.CreateAuthenticator(ctx, authenticator)
	})
}

func (d *decorator) Authenticators(ctx context.Context, userID string) ([]*store.Authenticator, error) {
	return decorate(ctx, d, "list authenticators", func(ctx context.Context) ([]*store.Authenticator, error) {
		return d.AuthenticatorStore.Authenticators(ctx, userID)
	})
}

func (d *decorator) UpdateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) error {
	return decorateOnly(ctx, d, "update authenticator", func(ctx context.Context) error {
		return d.AuthenticatorStore.UpdateAuthenticatorCounter(ctx, credentialID, counter)
	})
}

func (d *decorator) DeleteAuthenticator(ctx context.Context, credentialID string) error {
	return decorateOnly(ctx, d, "delete authenticator", func(ctx context.Context) error {
		return d.AuthenticatorDeleter.DeleteAuthenticator(ctx, credentialID)
	})
}

func (d *decorator) CreateRecord(ctx context.Context, r *store.Record) error {
	return decorateOnly(ctx, d, "create record", func(ctx context.Context) error {
		return d.RecordStore.CreateRecord(ctx, r)
	})
}

func (d *decorator) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	return decorate(ctx, d, "read record", func(ctx context.Context) (*store.Record, error) {
		return present(d.RecordStore.Record(ctx, kind, key))
	})
}

func (d *decorator) UpdateRecord(ctx context.Context, r *store.Record) error {
	return decorateOnly(ctx, d, "update record", func(ctx context.Context) error {
		return d.RecordStore.UpdateRecord(ctx, r)
	})
}

func (d *decorator) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	return decorate(ctx, d, "delete record", func(ctx context.Context) (*store.Record, error) {
		return present(d.RecordStore.DeleteRecord(ctx, kind, key))
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

// sameStore reports whether two stores are identical. Stores that Go cannot compare count as different.
func sameStore(a, b Store) bool {
	return a != nil && b != nil && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// linked returns the accounts of a user, or none if the store cannot list them.
func (v stores) linked(ctx context.Context, u *User) ([]*Account, error) {
	if v.accounts == nil {
		return nil, nil
	}
	return v.accounts.Accounts(ctx, u.ID)
}
