// Package memory stores users, accounts, sessions, tokens and records in memory, for tests and first steps. It is the
// reference implementation of [store.Store] and its optional interfaces. All data is lost when the process ends.
package memory

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// Store is a store in memory. It is safe for concurrent use. Create it with [New].
type Store struct {
	mu   sync.Mutex
	data data
}

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
	_ store.EmailLister            = (*Store)(nil)
	_ store.SessionLister          = (*Store)(nil)
	_ store.Cleaner                = (*Store)(nil)
	_ store.RecordStore            = (*Store)(nil)
	_ store.RecordLister           = (*Store)(nil)
	_ store.RecordPairReader       = (*Store)(nil)
	_ store.UserFinder             = (*Store)(nil)
)

// InTransaction implements [store.Transactor]. It applies all changes of do, or none. Other calls wait until it
// returns.
func (s *Store) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	return s.locked(ctx, func(d *data) error {
		tx := &Store{data: d.clone()}
		if err := do(ctx, tx); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		*d = tx.data // a nested transaction may have replaced the data
		return nil
	})
}

// locked runs do on the data, unless ctx has ended.
func (s *Store) locked(ctx context.Context, do func(d *data) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return do(&s.data)
}

// DeleteExpired implements [store.Cleaner]. It deletes everything in one step, or nothing if ctx has ended.
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

// expired returns the number of rows that DeleteExpired would delete.
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

// data is all data of a Store. It is copied by value, so that a transaction can restore the previous state.
type data struct {
	users          map[string]store.User
	byEmail        map[string]string // email address to user ID
	accounts       map[accountKey]store.Account
	sessions       map[string]store.Session
	tokens         map[tokenKey]store.VerificationToken
	authenticators map[string]store.Authenticator
	records        map[recordKey]store.Record
}

func (d *data) clone() data {
	return data{
		users: maps.Clone(d.users), byEmail: maps.Clone(d.byEmail), accounts: maps.Clone(d.accounts),
		sessions: maps.Clone(d.sessions), tokens: maps.Clone(d.tokens), authenticators: maps.Clone(d.authenticators),
		records: maps.Clone(d.records),
	}
}

// get returns the row with this key, or ErrNotFound.
func get[K comparable, V any](rows map[K]V, key K) (*V, error) {
	v, ok := rows[key]
	if !ok {
		return nil, store.ErrNotFound
	}
	return &v, nil
}
