// Package memory keeps users, accounts, sessions and tokens in memory: for tests and first steps. It is the reference
// implementation of the contract of [core.Store] and its companions. What it holds is lost when the process ends.
package memory

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Store is a store in memory. It is safe for concurrent use; make it with [New].
type Store struct {
	mu sync.Mutex
	data
}

// data is everything a Store holds, by value, so that a transaction can put back what was there before.
type data struct {
	users          map[string]core.User
	byEmail        map[string]string // e-mail to user id
	accounts       map[accountKey]core.Account
	sessions       map[string]core.StoredSession
	tokens         map[tokenKey]core.VerificationToken
	authenticators map[string]core.Authenticator
}

type accountKey struct{ provider, id string }
type tokenKey struct{ identifier, token string }

// New returns an empty store.
func New() *Store {
	return &Store{data: data{
		users: map[string]core.User{}, byEmail: map[string]string{}, accounts: map[accountKey]core.Account{},
		sessions: map[string]core.StoredSession{}, tokens: map[tokenKey]core.VerificationToken{}, authenticators: map[string]core.Authenticator{},
	}}
}

var (
	_ core.SessionStore           = (*Store)(nil)
	_ core.VerificationTokenStore = (*Store)(nil)
	_ core.AuthenticatorStore     = (*Store)(nil)
	_ core.Transactor             = (*Store)(nil)
	_ core.AccountUpdater         = (*Store)(nil)
	_ core.Deleter                = (*Store)(nil)
	_ core.SessionLister          = (*Store)(nil)
	_ core.Cleaner                = (*Store)(nil)
)

// locked runs do on the data, unless the context has ended.
func (s *Store) locked(ctx context.Context, do func(d *data) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return do(&s.data)
}

// InTransaction implements [core.Transactor]: all of do, or nothing of it. Other callers wait meanwhile.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx core.Store) error) error {
	return s.locked(ctx, func(d *data) error {
		work := d.clone()
		if err := do(ctx, &Store{data: work}); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		*d = work
		return nil
	})
}

func (d *data) clone() data {
	return data{
		users: maps.Clone(d.users), byEmail: maps.Clone(d.byEmail), accounts: maps.Clone(d.accounts),
		sessions: maps.Clone(d.sessions), tokens: maps.Clone(d.tokens), authenticators: maps.Clone(d.authenticators),
	}
}

func copyUser(u core.User) *core.User {
	u.Extra = maps.Clone(u.Extra)
	return u.AsStored()
}

// get returns the row under a key, or ErrNotFound.
func get[K comparable, V any](rows map[K]V, key K) (*V, error) {
	v, ok := rows[key]
	if !ok {
		return nil, core.ErrNotFound
	}
	return &v, nil
}

// CreateUser implements [core.Store]. It keeps the id it is given.
func (s *Store) CreateUser(ctx context.Context, u *core.User) (made *core.User, err error) {
	err = s.locked(ctx, func(d *data) error {
		if _, taken := d.users[u.ID]; taken || u.ID == "" {
			return core.ErrConflict
		}
		if _, taken := d.byEmail[u.Email]; taken && u.Email != "" {
			return core.ErrConflict
		}
		made = copyUser(*u)
		d.users[u.ID] = *copyUser(*made)
		if u.Email != "" {
			d.byEmail[u.Email] = u.ID
		}
		return nil
	})
	return made, err
}

// User implements [core.Store].
func (s *Store) User(ctx context.Context, id string) (u *core.User, err error) {
	err = s.locked(ctx, func(d *data) error { u, err = d.user(id); return err })
	return u, err
}

func (d *data) user(id string) (*core.User, error) {
	u, err := get(d.users, id)
	if err != nil {
		return nil, err
	}
	return copyUser(*u), nil
}

// UserByEmail implements [core.Store].
func (s *Store) UserByEmail(ctx context.Context, email string) (u *core.User, err error) {
	err = s.locked(ctx, func(d *data) error { u, err = d.user(d.byEmail[email]); return err })
	return u, err
}

// UserByAccount implements [core.Store].
func (s *Store) UserByAccount(ctx context.Context, provider, providerAccountID string) (u *core.User, err error) {
	err = s.locked(ctx, func(d *data) error {
		u, err = d.user(d.accounts[accountKey{provider, providerAccountID}].UserID)
		return err
	})
	return u, err
}

// UpdateUser implements [core.Store].
func (s *Store) UpdateUser(ctx context.Context, u *core.User) (updated *core.User, err error) {
	err = s.locked(ctx, func(d *data) error {
		old, err := get(d.users, u.ID)
		if err != nil {
			return err
		}
		if owner, taken := d.byEmail[u.Email]; taken && owner != u.ID {
			return core.ErrConflict
		}
		delete(d.byEmail, old.Email)
		if u.Email != "" {
			d.byEmail[u.Email] = u.ID
		}
		updated = copyUser(*u)
		d.users[u.ID] = *copyUser(*u)
		return nil
	})
	return updated, err
}

// LinkAccount implements [core.Store].
func (s *Store) LinkAccount(ctx context.Context, a *core.Account) error {
	return s.locked(ctx, func(d *data) error {
		key := accountKey{a.Provider, a.ProviderAccountID}
		if _, taken := d.accounts[key]; taken {
			return core.ErrConflict
		}
		if _, err := get(d.users, a.UserID); err != nil {
			return err
		}
		d.accounts[key] = *copyAccount(*a)
		return nil
	})
}

func copyAccount(a core.Account) *core.Account {
	a.Extra = maps.Clone(a.Extra)
	a.ExpiresIn = nil // of the answer, not of the account
	return &a
}

// UpdateAccount implements [core.AccountUpdater].
func (s *Store) UpdateAccount(ctx context.Context, a *core.Account) error {
	return s.locked(ctx, func(d *data) error {
		key := accountKey{a.Provider, a.ProviderAccountID}
		old, err := get(d.accounts, key)
		if err != nil {
			return err
		}
		row := copyAccount(*a)
		row.UserID = old.UserID
		d.accounts[key] = *row
		return nil
	})
}

// UnlinkAccount implements [core.Deleter].
func (s *Store) UnlinkAccount(ctx context.Context, provider, providerAccountID string) error {
	return s.locked(ctx, func(d *data) error {
		key := accountKey{provider, providerAccountID}
		if _, err := get(d.accounts, key); err != nil {
			return err
		}
		delete(d.accounts, key)
		return nil
	})
}

// Accounts implements [core.Deleter], ordered by provider and account.
func (s *Store) Accounts(ctx context.Context, userID string) (out []*core.Account, err error) {
	err = s.locked(ctx, func(d *data) error {
		for _, a := range d.accounts {
			if a.UserID == userID {
				out = append(out, copyAccount(a))
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b *core.Account) int {
		if a.Provider != b.Provider {
			return compare(a.Provider, b.Provider)
		}
		return compare(a.ProviderAccountID, b.ProviderAccountID)
	})
	return out, err
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// DeleteUser implements [core.Deleter].
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	return s.locked(ctx, func(d *data) error {
		u, err := get(d.users, id)
		if err != nil {
			return err
		}
		delete(d.users, id)
		delete(d.byEmail, u.Email)
		maps.DeleteFunc(d.accounts, func(_ accountKey, a core.Account) bool { return a.UserID == id })
		maps.DeleteFunc(d.sessions, func(_ string, v core.StoredSession) bool { return v.UserID == id })
		maps.DeleteFunc(d.authenticators, func(_ string, a core.Authenticator) bool { return a.UserID == id })
		return nil
	})
}

// CreateSession implements [core.SessionStore].
func (s *Store) CreateSession(ctx context.Context, session *core.StoredSession) error {
	return s.locked(ctx, func(d *data) error {
		if _, taken := d.sessions[string(session.Token)]; taken {
			return core.ErrConflict
		}
		if _, err := get(d.users, session.UserID); err != nil {
			return err
		}
		d.sessions[string(session.Token)] = *session
		return nil
	})
}

// SessionAndUser implements [core.SessionStore].
func (s *Store) SessionAndUser(ctx context.Context, token string) (session *core.StoredSession, u *core.User, err error) {
	err = s.locked(ctx, func(d *data) error {
		if session, err = get(d.sessions, token); err != nil {
			return err
		}
		u, err = d.user(session.UserID)
		return err
	})
	return session, u, err
}

// UpdateSession implements [core.SessionStore].
func (s *Store) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	return s.locked(ctx, func(d *data) error {
		session, err := get(d.sessions, token)
		if err != nil {
			return err
		}
		session.Expires = expires
		d.sessions[token] = *session
		return nil
	})
}

// DeleteSession implements [core.SessionStore].
func (s *Store) DeleteSession(ctx context.Context, token string) (session *core.StoredSession, err error) {
	err = s.locked(ctx, func(d *data) error {
		session, err = get(d.sessions, token)
		delete(d.sessions, token)
		return err
	})
	return session, err
}

// Sessions implements [core.SessionLister].
func (s *Store) Sessions(ctx context.Context, userID string) (out []*core.StoredSession, err error) {
	err = s.locked(ctx, func(d *data) error {
		for _, session := range d.sessions {
			if session.UserID == userID {
				out = append(out, &session)
			}
		}
		return nil
	})
	return out, err
}

// DeleteSessions implements [core.SessionLister].
func (s *Store) DeleteSessions(ctx context.Context, userID string) (n int, err error) {
	err = s.locked(ctx, func(d *data) error {
		n = len(d.sessions)
		maps.DeleteFunc(d.sessions, func(_ string, v core.StoredSession) bool { return v.UserID == userID })
		n -= len(d.sessions)
		return nil
	})
	return n, err
}

// CreateVerificationToken implements [core.VerificationTokenStore].
func (s *Store) CreateVerificationToken(ctx context.Context, t *core.VerificationToken) error {
	return s.locked(ctx, func(d *data) error {
		key := tokenKey{t.Identifier, t.Token}
		if _, taken := d.tokens[key]; taken {
			return core.ErrConflict
		}
		d.tokens[key] = *t
		return nil
	})
}

// UseVerificationToken implements [core.VerificationTokenStore].
func (s *Store) UseVerificationToken(ctx context.Context, identifier, token string) (t *core.VerificationToken, err error) {
	err = s.locked(ctx, func(d *data) error {
		key := tokenKey{identifier, token}
		t, err = get(d.tokens, key)
		delete(d.tokens, key)
		return err
	})
	return t, err
}

// DeleteExpired implements [core.Cleaner].
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) (n int, err error) {
	err = s.locked(ctx, func(d *data) error {
		n = len(d.sessions) + len(d.tokens)
		maps.DeleteFunc(d.sessions, func(_ string, v core.StoredSession) bool { return v.Expires.Before(now) })
		maps.DeleteFunc(d.tokens, func(_ tokenKey, v core.VerificationToken) bool { return v.Expires.Before(now) })
		n -= len(d.sessions) + len(d.tokens)
		return nil
	})
	return n, err
}

// Authenticator implements [core.AuthenticatorStore].
func (s *Store) Authenticator(ctx context.Context, credentialID string) (a *core.Authenticator, err error) {
	err = s.locked(ctx, func(d *data) error { a, err = get(d.authenticators, credentialID); return err })
	return a, err
}

// CreateAuthenticator implements [core.AuthenticatorStore].
func (s *Store) CreateAuthenticator(ctx context.Context, a *core.Authenticator) error {
	return s.locked(ctx, func(d *data) error {
		if _, taken := d.authenticators[a.CredentialID]; taken {
			return core.ErrConflict
		}
		d.authenticators[a.CredentialID] = *a
		return nil
	})
}

// Authenticators implements [core.AuthenticatorStore].
func (s *Store) Authenticators(ctx context.Context, userID string) (out []*core.Authenticator, err error) {
	err = s.locked(ctx, func(d *data) error {
		for _, a := range d.authenticators {
			if a.UserID == userID {
				out = append(out, &a)
			}
		}
		return nil
	})
	return out, err
}

// UpdateAuthenticatorCounter implements [core.AuthenticatorStore].
func (s *Store) UpdateAuthenticatorCounter(ctx context.Context, credentialID string, counter uint32) error {
	return s.locked(ctx, func(d *data) error {
		a, err := get(d.authenticators, credentialID)
		if err != nil {
			return err
		}
		a.Counter = counter
		d.authenticators[credentialID] = *a
		return nil
	})
}

// Account implements [core.AuthenticatorStore].
func (s *Store) Account(ctx context.Context, provider, providerAccountID string) (a *core.Account, err error) {
	err = s.locked(ctx, func(d *data) error { a, err = get(d.accounts, accountKey{provider, providerAccountID}); return err })
	return a, err
}
