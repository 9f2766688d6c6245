package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// keeper is a store in memory that counts what is asked of it, knows for whom tokens were made, and can be in trouble.
// One that is handed out within a transaction tells the outer one.
type keeper struct {
	*memory.Store
	outer *keeper

	mu          sync.Mutex
	reads       int
	identifiers []string
	made        []string // the ids of users
	trouble     trouble
}

// trouble stands between the application and one operation of the store, by the names that Auth.js has for them: it
// does the operation or not. blank: the answer is nothing, without an error.
type trouble func(ctx context.Context, operation string, do func(context.Context) error) (blank bool, err error)

func newKeeper() *keeper { return &keeper{Store: memory.New()} }

func (s *keeper) root() *keeper {
	if s.outer != nil {
		return s.outer
	}
	return s
}

// bring brings trouble; nil ends it.
func (s *keeper) bring(t trouble) {
	s = s.root()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = t
}

// troubled does an operation, unless there is trouble.
func troubled[T any](
	ctx context.Context, s *keeper, operation string, do func(ctx context.Context) (T, error),
) (result T, err error) {
	root := s.root()
	root.mu.Lock()
	t := root.trouble
	root.mu.Unlock()
	if t == nil {
		return do(ctx)
	}
	blank, err := t(ctx, operation, func(ctx context.Context) (err error) {
		result, err = do(ctx)
		return err
	})
	if blank || err != nil {
		var none T
		return none, err
	}
	return result, nil
}

// done is troubled for operations without a result.
func (s *keeper) done(ctx context.Context, operation string, do func(ctx context.Context) error) error {
	did := false
	_, err := troubled(ctx, s, operation, func(ctx context.Context) (struct{}, error) {
		did = true
		return struct{}{}, do(ctx)
	})
	if err == nil && !did { // nothing without an error is all that such an operation ever answers
		return do(ctx)
	}
	return err
}

// InTransaction implements store.Transactor.
func (s *keeper) InTransaction(ctx context.Context, do func(ctx context.Context, tx core.Store) error) error {
	return s.Store.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
		return do(ctx, &keeper{Store: tx.(*memory.Store), outer: s.root()})
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

// withoutTransactions is the store as engines are that write one record at a time.
func (s *keeper) withoutTransactions() core.Store { return untransacted{s, s, s, s, s, s, s, s} }

// users are the users that there are, in the order in which they were made.
func (s *keeper) users(ctx context.Context) (list []*core.User) {
	s.mu.Lock()
	ids := slices.Clone(s.made)
	s.mu.Unlock()
	for _, id := range ids {
		if u, err := s.Store.User(ctx, id); err == nil {
			list = append(list, u)
		}
	}
	return list
}

// rows are the rows of a user as text: what they are and have.
func (s *keeper) rows(ctx context.Context, u *core.User) string {
	accounts, err := s.Store.Accounts(ctx, u.ID)
	sessions, err2 := s.Store.Sessions(ctx, u.ID)
	passkeys, err3 := s.Store.Authenticators(ctx, u.ID)
	if err := errors.Join(err, err2, err3); err != nil {
		return err.Error()
	}
	lines := []string{string(must(json.Marshal(u)))}
	for _, a := range accounts {
		lines = append(lines, fmt.Sprintf("account %s %q %s", a.Provider, a.ProviderAccountID, a.EmailProved))
	}
	for _, v := range sessions {
		lines = append(lines, "session "+string(v.Token))
	}
	for _, p := range passkeys {
		lines = append(lines, "passkey "+p.CredentialID)
	}
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n")
}

// everything is all rows of all users, as text.
func (s *keeper) everything(ctx context.Context) string {
	var all []string
	for _, u := range s.users(ctx) {
		all = append(all, s.rows(ctx, u))
	}
	return strings.Join(all, "\n\n")
}

// tokens are the identifiers of all tokens that were made.
func (s *keeper) tokens() []string { s.mu.Lock(); defer s.mu.Unlock(); return s.identifiers }

// CreateUser implements core.Store, as do the methods below their interfaces.
func (s *keeper) CreateUser(ctx context.Context, u *core.User) (*core.User, error) {
	root := s.root()
	root.mu.Lock()
	root.made = append(root.made, u.ID) // unless it fails, or is undone
	root.mu.Unlock()
	return troubled(ctx, s, "createUser", func(ctx context.Context) (*core.User, error) {
		return s.Store.CreateUser(ctx, u)
	})
}

func (s *keeper) User(ctx context.Context, id string) (*core.User, error) {
	return troubled(ctx, s, "getUser", func(ctx context.Context) (*core.User, error) { return s.Store.User(ctx, id) })
}

func (s *keeper) UserByEmail(ctx context.Context, email string) (*core.User, error) {
	return troubled(ctx, s, "getUserByEmail", func(ctx context.Context) (*core.User, error) {
		return s.Store.UserByEmail(ctx, email)
	})
}

func (s *keeper) UserByAccount(ctx context.Context, provider, account string) (*core.User, error) {
	return troubled(ctx, s, "getUserByAccount", func(ctx context.Context) (*core.User, error) {
		return s.Store.UserByAccount(ctx, provider, account)
	})
}

func (s *keeper) UpdateUser(ctx context.Context, u *core.User) (*core.User, error) {
	return troubled(ctx, s, "updateUser", func(ctx context.Context) (*core.User, error) {
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
	return troubled(ctx, s, "getAccount", func(ctx context.Context) (*core.Account, error) {
		return s.Store.Account(ctx, provider, account)
	})
}

func (s *keeper) Accounts(ctx context.Context, userID string) ([]*core.Account, error) {
	return troubled(ctx, s, "listAccounts", func(ctx context.Context) ([]*core.Account, error) {
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
	root := s.root()
	root.mu.Lock()
	root.reads++
	root.mu.Unlock()
	type found struct {
		session *store.Session
		user    *core.User
	}
	f, err := troubled(ctx, s, "getSessionAndUser", func(ctx context.Context) (f found, err error) {
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
	return troubled(ctx, s, "deleteSession", func(ctx context.Context) (*store.Session, error) {
		return s.Store.DeleteSession(ctx, token)
	})
}

func (s *keeper) Sessions(ctx context.Context, userID string) ([]*store.Session, error) {
	return troubled(ctx, s, "listSessions", func(ctx context.Context) ([]*store.Session, error) {
		return s.Store.Sessions(ctx, userID)
	})
}

func (s *keeper) DeleteSessions(ctx context.Context, userID string) (int, error) {
	return troubled(ctx, s, "deleteSessions", func(ctx context.Context) (int, error) {
		return s.Store.DeleteSessions(ctx, userID)
	})
}

func (s *keeper) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
	root := s.root()
	root.mu.Lock()
	root.identifiers = append(root.identifiers, t.Identifier)
	root.mu.Unlock()
	return s.done(ctx, "createVerificationToken", func(ctx context.Context) error {
		return s.Store.CreateVerificationToken(ctx, t)
	})
}

func (s *keeper) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	return troubled(ctx, s, "useVerificationToken", func(ctx context.Context) (*store.VerificationToken, error) {
		return s.Store.UseVerificationToken(ctx, identifier, token)
	})
}

func (s *keeper) Authenticator(ctx context.Context, id string) (*store.Authenticator, error) {
	return troubled(ctx, s, "getAuthenticator", func(ctx context.Context) (*store.Authenticator, error) {
		return s.Store.Authenticator(ctx, id)
	})
}

func (s *keeper) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	return s.done(ctx, "createAuthenticator", func(ctx context.Context) error {
		return s.Store.CreateAuthenticator(ctx, a)
	})
}

func (s *keeper) Authenticators(ctx context.Context, userID string) ([]*store.Authenticator, error) {
	return troubled(ctx, s, "listAuthenticatorsByUserId", func(ctx context.Context) ([]*store.Authenticator, error) {
		return s.Store.Authenticators(ctx, userID)
	})
}

func (s *keeper) UpdateAuthenticatorCounter(ctx context.Context, id string, counter uint32) error {
	return s.done(ctx, "updateAuthenticatorCounter", func(ctx context.Context) error {
		return s.Store.UpdateAuthenticatorCounter(ctx, id, counter)
	})
}
