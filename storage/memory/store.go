// Package memory keeps users, accounts, sessions, tokens and records in memory: for tests and first steps. It is the
// reference implementation of the contract of [store.Store] and its companions. What it holds is lost when the process
// ends.
package memory

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// Store is a store in memory. It is safe for concurrent use; make it with [New].
type Store struct {
	mu sync.Mutex
	data
}

// data is everything a Store holds, by value, so that a transaction can put back what was there before.
type data struct {
	users          map[string]store.User
	byEmail        map[string]string // e-mail to user id
	accounts       map[accountKey]store.Account
	sessions       map[string]store.Session
	tokens         map[tokenKey]store.VerificationToken
	authenticators map[string]store.Authenticator
	records        map[recordKey]store.Record
}

type accountKey struct{ provider, id string }
type tokenKey struct{ identifier, token string }

// New returns an empty store.
func New() *Store {
	return &Store{data: data{
		users: map[string]store.User{}, byEmail: map[string]string{}, accounts: map[accountKey]store.Account{},
		sessions: map[string]store.Session{}, tokens: map[tokenKey]store.VerificationToken{},
		authenticators: map[string]store.Authenticator{}, records: map[recordKey]store.Record{},
	}}
}

var (
	_ store.SessionStore           = (*Store)(nil)
	_ store.VerificationTokenStore = (*Store)(nil)
	_ store.AuthenticatorStore     = (*Store)(nil)
	_ store.AuthenticatorDeleter   = (*Store)(nil)
	_ store.Transactor             = (*Store)(nil)
	_ store.AccountStore           = (*Store)(nil)
	_ store.UserDeleter            = (*Store)(nil)
	_ store.SessionLister          = (*Store)(nil)
	_ store.Cleaner                = (*Store)(nil)
	_ store.RecordStore            = (*Store)(nil)
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

// InTransaction implements [store.Transactor]: all of do, or nothing of it. Other callers wait meanwhile.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
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
		records: maps.Clone(d.records),
	}
}

func copyUser(u store.User) *store.User {
	u.Extra = maps.Clone(u.Extra)
	return u.AsStored()
}

// get returns the row under a key, or ErrNotFound.
func get[K comparable, V any](rows map[K]V, key K) (*V, error) {
	v, ok := rows[key]
	if !ok {
		return nil, store.ErrNotFound
	}
	return &v, nil
}

// CreateUser implements [store.Store]. It keeps the id it is given.
func (s *Store) CreateUser(ctx context.Context, u *store.User) (made *store.User, err error) {
	err = s.locked(ctx, func(d *data) error {
		if _, taken := d.users[u.ID]; taken || u.ID == "" {
			return store.ErrConflict
		}
		if _, taken := d.byEmail[u.Email]; taken && u.Email != "" {
			return store.ErrConflict
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

// User implements [store.Store].
func (s *Store) User(ctx context.Context, id string) (u *store.User, err error) {
	err = s.locked(ctx, func(d *data) error { u, err = d.user(id); return err })
	return u, err
}

func (d *data) user(id string) (*store.User, error) {
	u, err := get(d.users, id)
	if err != nil {
		return nil, err
	}
	return copyUser(*u), nil
}

// UserByEmail implements [store.Store].
func (s *Store) UserByEmail(ctx context.Context, email string) (u *store.User, err error) {
	err = s.locked(ctx, func(d *data) error { u, err = d.user(d.byEmail[email]); return err })
	return u, err
}

// UserByAccount implements [store.Store].
func (s *Store) UserByAccount(ctx context.Context, provider, providerAccountID string) (u *store.User, err error) {
	err = s.locked(ctx, func(d *data) error {
		u, err = d.user(d.accounts[accountKey{provider, providerAccountID}].UserID)
		return err
	})
	return u, err
}

// UpdateUser implements [store.Store].
func (s *Store) UpdateUser(ctx context.Context, u *store.User) (updated *store.User, err error) {
	err = s.locked(ctx, func(d *data) error {
		old, err := get(d.users, u.ID)
		if err != nil {
			return err
		}
		if owner, taken := d.byEmail[u.Email]; taken && owner != u.ID {
			return store.ErrConflict
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

// LinkAccount implements [store.Store].
func (s *Store) LinkAccount(ctx context.Context, a *store.Account) error {
	return s.locked(ctx, func(d *data) error {
		key := accountKey{a.Provider, a.ProviderAccountID}
		if _, taken := d.accounts[key]; taken {
			return store.ErrConflict
		}
		if _, err := get(d.users, a.UserID); err != nil {
			return err
		}
		d.accounts[key] = *copyAccount(*a)
		return nil
	})
}

func copyAccount(a store.Account) *store.Account {
	a.Extra = maps.Clone(a.Extra)
	a.ExpiresIn = 0 // of the answer, not of the account
	return &a
}

// UpdateAccount implements [store.AccountStore].
func (s *Store) UpdateAccount(ctx context.Context, a *store.Account) error {
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

// UnlinkAccount implements [store.AccountStore].
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

// Accounts implements [store.AccountStore], ordered by provider and account.
func (s *Store) Accounts(ctx context.Context, userID string) (out []*store.Account, err error) {
	err = s.locked(ctx, func(d *data) error {
		for _, a := range d.accounts {
			if a.UserID == userID {
				out = append(out, copyAccount(a))
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b *store.Account) int {
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

// DeleteUser implements [store.UserDeleter].
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	return s.locked(ctx, func(d *data) error {
		u, err := get(d.users, id)
		if err != nil {
			return err
		}
		delete(d.users, id)
		delete(d.byEmail, u.Email)
		maps.DeleteFunc(d.accounts, func(_ accountKey, a store.Account) bool { return a.UserID == id })
		maps.DeleteFunc(d.sessions, func(_ string, v store.Session) bool { return v.UserID == id })
		maps.DeleteFunc(d.authenticators, func(_ string, a store.Authenticator) bool { return a.UserID == id })
		d.deleteRecords(func(r store.Record) bool { return r.UserID == id })
		return nil
	})
}

// CreateSession implements [store.SessionStore].
func (s *Store) CreateSession(ctx context.Context, session *store.Session) error {
	return s.locked(ctx, func(d *data) error {
		if _, taken := d.sessions[string(session.Token)]; taken {
			return store.ErrConflict
		}
		if _, err := get(d.users, session.UserID); err != nil {
			return err
		}
		d.sessions[string(session.Token)] = *session
		return nil
	})
}

// SessionAndUser implements [store.SessionStore].
func (s *Store) SessionAndUser(ctx context.Context, token string) (session *store.Session, u *store.User, err error) {
	err = s.locked(ctx, func(d *data) error {
		if session, err = get(d.sessions, token); err != nil {
			return err
		}
		u, err = d.user(session.UserID)
		return err
	})
	return session, u, err
}

// UpdateSession implements [store.SessionStore].
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

// DeleteSession implements [store.SessionStore].
func (s *Store) DeleteSession(ctx context.Context, token string) (session *store.Session, err error) {
	err = s.locked(ctx, func(d *data) error {
		session, err = get(d.sessions, token)
		delete(d.sessions, token)
		return err
	})
	return session, err
}

// Sessions implements [store.SessionLister].
func (s *Store) Sessions(ctx context.Context, userID string) (out []*store.Session, err error) {
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

// DeleteSessions implements [store.SessionLister].
func (s *Store) DeleteSessions(ctx context.Context, userID string) (n int, err error) {
	err = s.locked(ctx, func(d *data) error {
		n = len(d.sessions)
		maps.DeleteFunc(d.sessions, func(_ string, v store.Session) bool { return v.UserID == userID })
		n -= len(d.sessions)
		return nil
	})
	return n, err
}

// CreateVerificationToken implements [store.VerificationTokenStore].
func (s *Store) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
	return s.locked(ctx, func(d *data) error {
		key := tokenKey{t.Identifier, t.Token}
		if _, taken := d.tokens[key]; taken {
			return store.ErrConflict
		}
		d.tokens[key] = *t
		return nil
	})
}

// UseVerificationToken implements [store.VerificationTokenStore].
func (s *Store) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (t *store.VerificationToken, err error) {
	err = s.locked(ctx, func(d *data) error {
		key := tokenKey{identifier, token}
		t, err = get(d.tokens, key)
		delete(d.tokens, key)
		return err
	})
	return t, err
}

// DeleteExpired implements [store.Cleaner]: all at once, or nothing when the context has ended.
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) (n int, err error) {
	err = s.locked(ctx, func(d *data) error {
		n = len(d.sessions) + len(d.tokens)
		maps.DeleteFunc(d.sessions, func(_ string, v store.Session) bool { return v.Expires.Before(now) })
		maps.DeleteFunc(d.tokens, func(_ tokenKey, v store.VerificationToken) bool { return v.Expires.Before(now) })
		n -= len(d.sessions) + len(d.tokens)
		n += d.deleteRecords(func(r store.Record) bool { return ended(r, now) })
		return nil
	})
	return n, store.WithLeft(ctx, err, func(ctx context.Context) (rows int, more bool, err error) {
		err = s.locked(ctx, func(d *data) error { rows = d.expired(now); return nil })
		return min(rows, store.MostLeft), rows > store.MostLeft, err
	})
}

func ended(r store.Record, now time.Time) bool { return !r.Expires.IsZero() && r.Expires.Before(now) }

// expired counts what DeleteExpired would remove.
func (d *data) expired(now time.Time) (n int) {
	for _, v := range d.sessions {
		if v.Expires.Before(now) {
			n++
		}
	}
	for _, v := range d.tokens {
		if v.Expires.Before(now) {
			n++
		}
	}
	for _, r := range d.records {
		if ended(r, now) {
			n++
		}
	}
	return n
}

// Authenticator implements [store.AuthenticatorStore].
func (s *Store) Authenticator(ctx context.Context, credentialID string) (a *store.Authenticator, err error) {
	err = s.locked(ctx, func(d *data) error { a, err = get(d.authenticators, credentialID); return err })
	return a, err
}

// CreateAuthenticator implements [store.AuthenticatorStore].
func (s *Store) CreateAuthenticator(ctx context.Context, a *store.Authenticator) error {
	return s.locked(ctx, func(d *data) error {
		if _, taken := d.authenticators[a.CredentialID]; taken {
			return store.ErrConflict
		}
		d.authenticators[a.CredentialID] = *a
		return nil
	})
}

// Authenticators implements [store.AuthenticatorStore].
func (s *Store) Authenticators(ctx context.Context, userID string) (out []*store.Authenticator, err error) {
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

// UpdateAuthenticatorCounter implements [store.AuthenticatorStore].
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

// DeleteAuthenticator implements [store.AuthenticatorDeleter].
func (s *Store) DeleteAuthenticator(ctx context.Context, credentialID string) error {
	return s.locked(ctx, func(d *data) error {
		if _, err := get(d.authenticators, credentialID); err != nil {
			return err
		}
		delete(d.authenticators, credentialID)
		return nil
	})
}

// Account implements [store.AccountStore].
func (s *Store) Account(ctx context.Context, provider, providerAccountID string) (a *store.Account, err error) {
	err = s.locked(ctx, func(d *data) error {
		a, err = get(d.accounts, accountKey{provider, providerAccountID})
		return err
	})
	return a, err
}
