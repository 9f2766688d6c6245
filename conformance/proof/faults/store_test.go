package faults

import (
	"context"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// whole has all interfaces of a store.
type whole interface {
	core.Store
	store.SessionStore
	store.VerificationTokenStore
	store.AuthenticatorStore
	store.AuthenticatorDeleter
	store.AccountStore
	store.UserDeleter
	store.SessionLister
	store.RecordStore
}

// troubled wraps a store and can make its calls fail.
type troubled struct {
	whole
	at *incident
}

// transacting wraps a store with transactions.
type transacting struct{ troubled }

// wrapped adds an incident to a store.
func wrapped(s core.Store, at *incident) core.Store {
	if _, ok := s.(store.Transactor); ok {
		return transacting{troubled{s.(whole), at}}
	}
	return troubled{s.(whole), at}
}

// listing adds lists of records to a wrapped store, as Options.DeleteAfter requires. The other flows have a store
// without lists, so that they make the same calls each time: a store that lists records also stores emails.
func listing(s core.Store) core.Store {
	if s, ok := s.(transacting); ok {
		return struct {
			transacting
			lister
		}{s, lister{s.whole.(store.RecordLister)}}
	}
	t := s.(troubled)
	return struct {
		troubled
		lister
	}{t, lister{t.whole.(store.RecordLister)}}
}

// lister lists records. Only tasks call it, and no flow runs one.
type lister struct{ records store.RecordLister }

// ListRecords implements store.RecordLister.
func (l lister) ListRecords(
	ctx context.Context, kind, prefix, cursor string, limit int,
) (records []*store.Record, next string, err error) {
	return l.records.ListRecords(ctx, kind, prefix, cursor, limit)
}

// InTransaction implements store.Transactor. Calls within the transaction can fail too.
func (s transacting) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	return s.whole.(store.Transactor).InTransaction(ctx, func(ctx context.Context, tx store.Store) error {
		return do(ctx, troubled{tx.(whole), s.at})
	})
}

// asked calls the database, unless the incident prevents it.
func asked[T any](
	ctx context.Context, s troubled, name string, do func(context.Context) (T, error),
) (out T, err error) {
	blank, err := s.at.meet(ctx, name, func(ctx context.Context) (err error) {
		out, err = do(ctx)
		return err
	})
	if blank || err != nil {
		var none T
		return none, err
	}
	return out, nil
}

// done is asked for calls that return only an error. A blank result counts as success.
func (s troubled) done(ctx context.Context, name string, do func(context.Context) error) error {
	did := false
	_, err := asked(ctx, s, name, func(ctx context.Context) (struct{}, error) { did = true; return struct{}{}, do(ctx) })
	if err == nil && !did {
		return do(ctx)
	}
	return err
}

func (s troubled) CreateUser(ctx context.Context, u *core.User) (*core.User, error) {
	return asked(ctx, s, "create user", func(ctx context.Context) (*core.User, error) {
		return s.whole.CreateUser(ctx, u)
	})
}

func (s troubled) User(ctx context.Context, id string) (*core.User, error) {
	return asked(ctx, s, "read user", func(ctx context.Context) (*core.User, error) { return s.whole.User(ctx, id) })
}

func (s troubled) UserByEmail(ctx context.Context, email string) (*core.User, error) {
	return asked(ctx, s, "read user by e-mail", func(ctx context.Context) (*core.User, error) {
		return s.whole.UserByEmail(ctx, email)
	})
}

func (s troubled) UserByAccount(ctx context.Context, provider, id string) (*core.User, error) {
	return asked(ctx, s, "read user by account", func(ctx context.Context) (*core.User, error) {
		return s.whole.UserByAccount(ctx, provider, id)
	})
}

func (s troubled) UpdateUser(ctx context.Context, u *core.User) (*core.User, error) {
	return asked(ctx, s, "update user", func(ctx context.Context) (*core.User, error) {
		return s.whole.UpdateUser(ctx, u)
	})
}

func (s troubled) DeleteUser(ctx context.Context, id string) error {
	return s.done(ctx, "delete user", func(ctx context.Context) error { return s.whole.DeleteUser(ctx, id) })
}

func (s troubled) LinkAccount(ctx context.Context, a *core.Account) error {
	return s.done(ctx, "link account", func(ctx context.Context) error { return s.whole.LinkAccount(ctx, a) })
}

func (s troubled) UpdateAccount(ctx context.Context, a *core.Account) error {
	return s.done(ctx, "update account", func(ctx context.Context) error { return s.whole.UpdateAccount(ctx, a) })
}

func (s troubled) UnlinkAccount(ctx context.Context, provider, id string) error {
	return s.done(ctx, "unlink account", func(ctx context.Context) error {
		return s.whole.UnlinkAccount(ctx, provider, id)
	})
}

func (s troubled) Account(ctx context.Context, provider, id string) (*core.Account, error) {
	return asked(ctx, s, "read account", func(ctx context.Context) (*core.Account, error) {
		return s.whole.Account(ctx, provider, id)
	})
}

func (s troubled) Accounts(ctx context.Context, userID string) ([]*core.Account, error) {
	return asked(ctx, s, "list accounts", func(ctx context.Context) ([]*core.Account, error) {
		return s.whole.Accounts(ctx, userID)
	})
}

func (s troubled) CreateSession(ctx context.Context, v *store.Session) error {
	return s.done(ctx, "create session", func(ctx context.Context) error { return s.whole.CreateSession(ctx, v) })
}

func (s troubled) SessionAndUser(ctx context.Context, token string) (*store.Session, *core.User, error) {
	type both struct {
		*store.Session
		*core.User
	}
	got, err := asked(ctx, s, "read session", func(ctx context.Context) (both, error) {
		v, u, err := s.whole.SessionAndUser(ctx, token)
		return both{v, u}, err
	})
	return got.Session, got.User, err
}

func (s troubled) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return s.done(ctx, "update session", func(ctx context.Context) error {
		return s.whole.UpdateSession(ctx, token, expires)
	})
}

func (s troubled) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	return asked(ctx, s, "delete session", func(ctx context.Context) (*store.Session, error) {
		return s.whole.DeleteSession(ctx, token)
	})
}

func (s troubled) Sessions(ctx context.Context, userID string) ([]*store.Session, error) {
	return asked(ctx, s, "list sessions", func(ctx context.Context) ([]*store.Session, error) {
		return s.whole.Sessions(ctx, userID)
	})
}

func (s troubled) DeleteSessions(ctx context.Context, userID string) (int, error) {
	return asked(ctx, s, "delete sessions", func(ctx context.Context) (int, error) {
		return s.whole.DeleteSessions(ctx, userID)
	})
}

func (s troubled) CreateVerificationToken(ctx context.Context, v *store.VerificationToken) error {
	return s.done(ctx, "create token", func(ctx context.Context) error { return s.whole.CreateVerificationToken(ctx, v) })
}

func (s troubled) UseVerificationToken(ctx context.Context, id, token string) (*store.VerificationToken, error) {
	return asked(ctx, s, "use token", func(ctx context.Context) (*store.VerificationToken, error) {
		return s.whole.UseVerificationToken(ctx, id, token)
	})
}

func (s troubled) Authenticator(ctx context.Context, id string) (*store.Authenticator, error) {
	return asked(ctx, s, "read passkey", func(ctx context.Context) (*store.Authenticator, error) {
		return s.whole.Authenticator(ctx, id)
	})
}

func (s troubled) Authenticators(ctx context.Context, userID string) ([]*store.Authenticator, error) {
	return asked(ctx, s, "list passkeys", func(ctx context.Context) ([]*store.Authenticator, error) {
		return s.whole.Authenticators(ctx, userID)
	})
}

func (s troubled) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	return s.done(ctx, "create passkey", func(ctx context.Context) error { return s.whole.CreateAuthenticator(ctx, a) })
}

func (s troubled) UpdateAuthenticatorCounter(ctx context.Context, id string, counter uint32) error {
	return s.done(ctx, "update passkey", func(ctx context.Context) error {
		return s.whole.UpdateAuthenticatorCounter(ctx, id, counter)
	})
}

func (s troubled) DeleteAuthenticator(ctx context.Context, id string) error {
	return s.done(ctx, "delete passkey", func(ctx context.Context) error { return s.whole.DeleteAuthenticator(ctx, id) })
}

func (s troubled) CreateRecord(ctx context.Context, r *store.Record) error {
	return s.done(ctx, "create record "+r.Kind, func(ctx context.Context) error { return s.whole.CreateRecord(ctx, r) })
}

func (s troubled) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	return asked(ctx, s, "read record "+kind, func(ctx context.Context) (*store.Record, error) {
		return s.whole.Record(ctx, kind, key)
	})
}

func (s troubled) UpdateRecord(ctx context.Context, r *store.Record) error {
	return s.done(ctx, "update record "+r.Kind, func(ctx context.Context) error { return s.whole.UpdateRecord(ctx, r) })
}

func (s troubled) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	return asked(ctx, s, "delete record "+kind, func(ctx context.Context) (*store.Record, error) {
		return s.whole.DeleteRecord(ctx, kind, key)
	})
}

func (s troubled) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	return asked(ctx, s, "list records "+kind, func(ctx context.Context) ([]*store.Record, error) {
		return s.whole.UserRecords(ctx, userID, kind)
	})
}

func (s troubled) DeleteUserRecords(ctx context.Context, userID, kind string) (int, error) {
	return asked(ctx, s, "delete records "+kind, func(ctx context.Context) (int, error) {
		return s.whole.DeleteUserRecords(ctx, userID, kind)
	})
}
