package main

import (
	"context"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// keeper is an in-memory store that records its calls in a ledger. The store of a transaction has the same ledger.
type keeper struct {
	*memory.Store
	*ledger
}

func newKeeper() *keeper {
	s := memory.New()
	return &keeper{Store: s, ledger: &ledger{store: s}}
}

// InTransaction implements store.Transactor.
func (s *keeper) InTransaction(ctx context.Context, do func(ctx context.Context, tx core.Store) error) error {
	return s.Store.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
		return do(ctx, &keeper{Store: tx.(*memory.Store), ledger: s.ledger})
	})
}

// untransacted is a store without transactions.
type untransacted struct {
	core.Store
	store.SessionStore
	store.VerificationTokenStore
	store.AuthenticatorStore
	store.AccountStore
	store.UserDeleter
	store.SessionLister
	store.RecordStore
}

// withoutTransactions returns the store of a database that writes one record at a time.
func withoutTransactions(s *keeper) core.Store { return untransacted{s, s, s, s, s, s, s, s} }

// CreateUser implements core.Store. The methods below implement their interfaces.
func (s *keeper) CreateUser(ctx context.Context, u *core.User) (*core.User, error) {
	s.mu.Lock()
	s.made = append(s.made, u.ID) // also if the operation fails or is rolled back
	s.mu.Unlock()
	return troubled(ctx, s.ledger, "createUser", func(ctx context.Context) (*core.User, error) {
		return s.Store.CreateUser(ctx, u)
	})
}

func (s *keeper) User(ctx context.Context, id string) (*core.User, error) {
	return troubled(ctx, s.ledger, "getUser", func(ctx context.Context) (*core.User, error) {
		return s.Store.User(ctx, id)
	})
}

func (s *keeper) UserByEmail(ctx context.Context, email string) (*core.User, error) {
	return troubled(ctx, s.ledger, "getUserByEmail", func(ctx context.Context) (*core.User, error) {
		return s.Store.UserByEmail(ctx, email)
	})
}

func (s *keeper) UserByAccount(ctx context.Context, provider, account string) (*core.User, error) {
	return troubled(ctx, s.ledger, "getUserByAccount", func(ctx context.Context) (*core.User, error) {
		return s.Store.UserByAccount(ctx, provider, account)
	})
}

func (s *keeper) UpdateUser(ctx context.Context, u *core.User) (*core.User, error) {
	return troubled(ctx, s.ledger, "updateUser", func(ctx context.Context) (*core.User, error) {
		return s.Store.UpdateUser(ctx, u)
	})
}

func (s *keeper) LinkAccount(ctx context.Context, a *core.Account) error {
	return s.done(ctx, "linkAccount", func(ctx context.Context) error { return s.Store.LinkAccount(ctx, a) })
}

func (s *keeper) UpdateAccount(ctx context.Context, a *core.Account) error {
	return s.done(ctx, "updateAccount", func(ctx context.Context) error { return s.Store.UpdateAccount(ctx, a) })
}

func (s *keeper) UnlinkAccount(ctx context.Context, provider, account string) error {
	return s.done(ctx, "unlinkAccount", func(ctx context.Context) error {
		return s.Store.UnlinkAccount(ctx, provider, account)
	})
}

func (s *keeper) Account(ctx context.Context, provider, account string) (*core.Account, error) {
	return troubled(ctx, s.ledger, "getAccount", func(ctx context.Context) (*core.Account, error) {
		return s.Store.Account(ctx, provider, account)
	})
}

func (s *keeper) Accounts(ctx context.Context, userID string) ([]*core.Account, error) {
	return troubled(ctx, s.ledger, "listAccounts", func(ctx context.Context) ([]*core.Account, error) {
		return s.Store.Accounts(ctx, userID)
	})
}

func (s *keeper) DeleteUser(ctx context.Context, id string) error {
	return s.done(ctx, "deleteUser", func(ctx context.Context) error { return s.Store.DeleteUser(ctx, id) })
}

func (s *keeper) CreateSession(ctx context.Context, session *store.Session) error {
	return s.done(ctx, "createSession", func(ctx context.Context) error { return s.Store.CreateSession(ctx, session) })
}

func (s *keeper) SessionAndUser(ctx context.Context, token string) (*store.Session, *core.User, error) {
	s.mu.Lock()
	s.reads++
	s.mu.Unlock()
	type found struct {
		session *store.Session
		user    *core.User
	}
	f, err := troubled(ctx, s.ledger, "getSessionAndUser", func(ctx context.Context) (f found, err error) {
		f.session, f.user, err = s.Store.SessionAndUser(ctx, token)
		return f, err
	})
	return f.session, f.user, err
}

func (s *keeper) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return s.done(ctx, "updateSession", func(ctx context.Context) error {
		return s.Store.UpdateSession(ctx, token, expires)
	})
}

func (s *keeper) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	return troubled(ctx, s.ledger, "deleteSession", func(ctx context.Context) (*store.Session, error) {
		return s.Store.DeleteSession(ctx, token)
	})
}

func (s *keeper) Sessions(ctx context.Context, userID string) ([]*store.Session, error) {
	return troubled(ctx, s.ledger, "listSessions", func(ctx context.Context) ([]*store.Session, error) {
		return s.Store.Sessions(ctx, userID)
	})
}

func (s *keeper) DeleteSessions(ctx context.Context, userID string) (int, error) {
	return troubled(ctx, s.ledger, "deleteSessions", func(ctx context.Context) (int, error) {
		return s.Store.DeleteSessions(ctx, userID)
	})
}

func (s *keeper) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
	s.mu.Lock()
	s.identifiers = append(s.identifiers, t.Identifier)
	s.mu.Unlock()
	return s.done(ctx, "createVerificationToken", func(ctx context.Context) error {
		return s.Store.CreateVerificationToken(ctx, t)
	})
}

func (s *keeper) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	return troubled(ctx, s.ledger, "useVerificationToken", func(ctx context.Context) (*store.VerificationToken, error) {
		return s.Store.UseVerificationToken(ctx, identifier, token)
	})
}

func (s *keeper) Authenticator(ctx context.Context, id string) (*store.Authenticator, error) {
	return troubled(ctx, s.ledger, "getAuthenticator", func(ctx context.Context) (*store.Authenticator, error) {
		return s.Store.Authenticator(ctx, id)
	})
}

func (s *keeper) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	return s.done(ctx, "createAuthenticator", func(ctx context.Context) error {
		return s.Store.CreateAuthenticator(ctx, a)
	})
}

func (s *keeper) Authenticators(ctx context.Context, userID string) ([]*store.Authenticator, error) {
	list := func(ctx context.Context) ([]*store.Authenticator, error) { return s.Store.Authenticators(ctx, userID) }
	return troubled(ctx, s.ledger, "listAuthenticatorsByUserId", list)
}

func (s *keeper) UpdateAuthenticatorCounter(ctx context.Context, id string, counter uint32) error {
	return s.done(ctx, "updateAuthenticatorCounter", func(ctx context.Context) error {
		return s.Store.UpdateAuthenticatorCounter(ctx, id, counter)
	})
}
