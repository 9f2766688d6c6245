package core

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/observed"
	"github.com/latchkey-go/latchkey/core/store"
)

// stuck is a store with a database that never responds: its calls last until their context ends. Its errors do not wrap
// that of the context.
type stuck struct{}

func (stuck) wait(ctx context.Context) error { <-ctx.Done(); return errors.New("driver: canceled") }

func (s stuck) CreateUser(ctx context.Context, _ *User) (*User, error)   { return nil, s.wait(ctx) }
func (s stuck) User(ctx context.Context, _ string) (*User, error)        { return nil, s.wait(ctx) }
func (s stuck) UserByEmail(ctx context.Context, _ string) (*User, error) { return nil, s.wait(ctx) }
func (s stuck) UserByAccount(ctx context.Context, _, _ string) (*User, error) {
	return nil, s.wait(ctx)
}
func (s stuck) UpdateUser(ctx context.Context, _ *User) (*User, error)         { return nil, s.wait(ctx) }
func (s stuck) LinkAccount(ctx context.Context, _ *Account) error              { return s.wait(ctx) }
func (s stuck) CreateSession(ctx context.Context, _ *store.Session) error      { return s.wait(ctx) }
func (s stuck) UpdateSession(ctx context.Context, _ string, _ time.Time) error { return s.wait(ctx) }
func (s stuck) UpdateAccount(ctx context.Context, _ *Account) error            { return s.wait(ctx) }
func (s stuck) UnlinkAccount(ctx context.Context, _, _ string) error           { return s.wait(ctx) }
func (s stuck) DeleteUser(ctx context.Context, _ string) error                 { return s.wait(ctx) }
func (s stuck) Account(ctx context.Context, _, _ string) (*Account, error)     { return nil, s.wait(ctx) }
func (s stuck) Accounts(ctx context.Context, _ string) ([]*Account, error)     { return nil, s.wait(ctx) }
func (s stuck) DeleteSessions(ctx context.Context, _ string) (int, error)      { return 0, s.wait(ctx) }

func (s stuck) SessionAndUser(ctx context.Context, _ string) (*store.Session, *User, error) {
	return nil, nil, s.wait(ctx)
}

func (s stuck) DeleteSession(ctx context.Context, _ string) (*store.Session, error) {
	return nil, s.wait(ctx)
}

func (s stuck) Sessions(ctx context.Context, _ string) ([]*store.Session, error) {
	return nil, s.wait(ctx)
}

func (s stuck) CreateVerificationToken(ctx context.Context, _ *store.VerificationToken) error {
	return s.wait(ctx)
}

func (s stuck) UseVerificationToken(ctx context.Context, _, _ string) (*store.VerificationToken, error) {
	return nil, s.wait(ctx)
}

func (s stuck) Authenticator(ctx context.Context, _ string) (*store.Authenticator, error) {
	return nil, s.wait(ctx)
}

func (s stuck) CreateAuthenticator(ctx context.Context, _ *store.Authenticator) error {
	return s.wait(ctx)
}

func (s stuck) Authenticators(ctx context.Context, _ string) ([]*store.Authenticator, error) {
	return nil, s.wait(ctx)
}

func (s stuck) UpdateAuthenticatorCounter(ctx context.Context, _ string, _ uint32) error {
	return s.wait(ctx)
}

func (s stuck) CreateRecord(ctx context.Context, _ *store.Record) error { return s.wait(ctx) }
func (s stuck) UpdateRecord(ctx context.Context, _ *store.Record) error { return s.wait(ctx) }

func (s stuck) Record(ctx context.Context, _, _ string) (*store.Record, error) {
	return nil, s.wait(ctx)
}

func (s stuck) DeleteRecord(ctx context.Context, _, _ string) (*store.Record, error) {
	return nil, s.wait(ctx)
}

func (s stuck) UserRecords(ctx context.Context, _, _ string) ([]*store.Record, error) {
	return nil, s.wait(ctx)
}

func (s stuck) DeleteUserRecords(ctx context.Context, _, _ string) (int, error) {
	return 0, s.wait(ctx)
}

func (s stuck) RecordPair(ctx context.Context, _, _ store.RecordName) (a, b *store.Record, err error) {
	return nil, nil, s.wait(ctx)
}

func (s stuck) ListUsers(ctx context.Context, _ string, _ int) ([]*User, string, error) {
	return nil, "", s.wait(ctx)
}

func (s stuck) ListUsersByEmail(ctx context.Context, _, _ string, _ int) ([]*User, string, error) {
	return nil, "", s.wait(ctx)
}

func (s stuck) InTransaction(ctx context.Context, do func(context.Context, Store) error) error {
	return do(ctx, s)
}

func (s stuck) DeleteExpired(ctx context.Context, _ time.Time) (int, error) { return 0, s.wait(ctx) }

func second[T any](_ T, err error) error { return err }

// TestStoreTimeout checks that every call of a store that hangs returns in time with ErrStoreUnavailable.
func TestStoreTimeout(t *testing.T) {
	t.Parallel()
	const limit = 3 * time.Second
	s := newStores(stuck{}, observed.Calls{}, limit)
	for name, call := range map[string]func(ctx context.Context) error{
		"CreateUser":    func(ctx context.Context) error { return second(s.CreateUser(ctx, nil)) },
		"User":          func(ctx context.Context) error { return second(s.User(ctx, "")) },
		"UserByEmail":   func(ctx context.Context) error { return second(s.UserByEmail(ctx, "")) },
		"UserByAccount": func(ctx context.Context) error { return second(s.UserByAccount(ctx, "", "")) },
		"UpdateUser":    func(ctx context.Context) error { return second(s.UpdateUser(ctx, nil)) },
		"LinkAccount":   func(ctx context.Context) error { return s.LinkAccount(ctx, nil) },
		"CreateSession": func(ctx context.Context) error { return s.Sessions.CreateSession(ctx, nil) },
		"SessionAndUser": func(ctx context.Context) error {
			_, _, err := s.Sessions.SessionAndUser(ctx, "")
			return err
		},
		"UpdateSession":  func(ctx context.Context) error { return s.Sessions.UpdateSession(ctx, "", time.Time{}) },
		"DeleteSession":  func(ctx context.Context) error { return second(s.Sessions.DeleteSession(ctx, "")) },
		"CreateToken":    func(ctx context.Context) error { return s.Tokens.CreateVerificationToken(ctx, nil) },
		"UseToken":       func(ctx context.Context) error { return second(s.Tokens.UseVerificationToken(ctx, "", "")) },
		"Account":        func(ctx context.Context) error { return second(s.Accounts.Account(ctx, "", "")) },
		"Accounts":       func(ctx context.Context) error { return second(s.Accounts.Accounts(ctx, "")) },
		"UpdateAccount":  func(ctx context.Context) error { return s.Accounts.UpdateAccount(ctx, nil) },
		"UnlinkAccount":  func(ctx context.Context) error { return s.Accounts.UnlinkAccount(ctx, "", "") },
		"DeleteUser":     func(ctx context.Context) error { return s.UserDeleter.DeleteUser(ctx, "") },
		"Sessions":       func(ctx context.Context) error { return second(s.SessionLister.Sessions(ctx, "")) },
		"DeleteSessions": func(ctx context.Context) error { return second(s.SessionLister.DeleteSessions(ctx, "")) },
		"Authenticator":  func(ctx context.Context) error { return second(s.Passkeys.Authenticator(ctx, "")) },
		"CreatePasskey":  func(ctx context.Context) error { return s.Passkeys.CreateAuthenticator(ctx, nil) },
		"Authenticators": func(ctx context.Context) error { return second(s.Passkeys.Authenticators(ctx, "")) },
		"UpdateCounter":  func(ctx context.Context) error { return s.Passkeys.UpdateAuthenticatorCounter(ctx, "", 1) },
		"CreateRecord":   func(ctx context.Context) error { return s.Records.CreateRecord(ctx, nil) },
		"Record":         func(ctx context.Context) error { return second(s.Records.Record(ctx, "", "")) },
		"UpdateRecord":   func(ctx context.Context) error { return s.Records.UpdateRecord(ctx, nil) },
		"DeleteRecord":   func(ctx context.Context) error { return second(s.Records.DeleteRecord(ctx, "", "")) },
		"UserRecords":    func(ctx context.Context) error { return second(s.Records.UserRecords(ctx, "", "")) },
		"DeleteRecords":  func(ctx context.Context) error { return second(s.Records.DeleteUserRecords(ctx, "", "")) },
		"RecordPair": func(ctx context.Context) error {
			_, _, err := s.RecordPairs.RecordPair(ctx, store.RecordName{}, store.RecordName{})
			return err
		},
		"ListUsers": func(ctx context.Context) error {
			_, _, err := s.UserFinder.ListUsers(ctx, "", 1)
			return err
		},
		"ListUsersByEmail": func(ctx context.Context) error {
			_, _, err := s.UserFinder.ListUsersByEmail(ctx, "", "", 1)
			return err
		},
		"InTransaction": func(ctx context.Context) error {
			return s.Transactor.InTransaction(ctx, func(ctx context.Context, tx Store) error { return second(tx.User(ctx, "")) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				if err := call(t.Context()); !errors.Is(err, ErrStoreUnavailable) {
					t.Errorf("error %v", err)
				}
				if took := time.Since(began); took != limit {
					t.Errorf("took %v, want %v", took, limit)
				}
				sooner, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began = time.Now()
				if err := call(sooner); !errors.Is(err, ErrStoreUnavailable) || time.Since(began) != time.Second {
					t.Errorf("with a deadline of the caller's: %v after %v", err, time.Since(began))
				}
			})
		})
	}
}

// TestDecisionAfterTheDeadline checks that a decision of a function in a transaction stays what it is, also if the
// transaction has exceeded its deadline by then.
func TestDecisionAfterTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStores(stuck{}, observed.Calls{}, time.Second)
		err := s.Transactor.InTransaction(t.Context(), func(ctx context.Context, _ Store) error {
			<-ctx.Done()
			return NewError(ErrAccountNotLinked, nil)
		})
		if !errors.Is(err, ErrAccountNotLinked) || errors.Is(err, ErrStoreUnavailable) {
			t.Errorf("got %v", err)
		}
	})
}
