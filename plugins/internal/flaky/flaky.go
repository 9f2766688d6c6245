// Package flaky has a store for tests, whose calls fail when the test says so.
package flaky

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Store is a store with all optional methods, such as the store in memory.
type Store interface {
	store.Store
	store.SessionStore
	store.VerificationTokenStore
	store.AuthenticatorStore
	store.AuthenticatorDeleter
	store.Transactor
	store.AccountStore
	store.UserDeleter
	store.EmailLister
	store.SessionLister
	store.Cleaner
	store.RecordStore
	store.RecordLister
	store.RecordPairReader
	store.UserFinder
}

// Failing is a store whose calls can fail. Fail reports whether a call fails; its argument is the name of the method,
// for records with their kind, such as "CreateRecord code". A failing call returns [core.ErrStoreUnavailable] and
// changes nothing. Set Fail between requests.
type Failing struct {
	Store
	Fail func(call string) bool
}

// After returns a function for Fail. Of the calls that follow the call first, or of all calls if first is empty, the
// one with the number n fails, counted from 0. seen is called with the name of each of these calls.
func After(first string, n int, seen func(call string)) func(call string) bool {
	begun, i := first == "", -1
	return func(call string) bool {
		if !begun {
			begun = call == first
			return false
		}
		i++
		seen(call)
		return i == n
	}
}

func (s *Failing) failing(call string) error {
	if s.Fail != nil && s.Fail(call) {
		return core.ErrStoreUnavailable
	}
	return nil
}

// User implements [store.Store].
func (s *Failing) User(ctx context.Context, id string) (*core.User, error) {
	if err := s.failing("User"); err != nil {
		return nil, err
	}
	return s.Store.User(ctx, id)
}

// CreateSession implements [store.SessionStore].
func (s *Failing) CreateSession(ctx context.Context, session *store.Session) error {
	if err := s.failing("CreateSession"); err != nil {
		return err
	}
	return s.Store.CreateSession(ctx, session)
}

// SessionAndUser implements [store.SessionStore].
func (s *Failing) SessionAndUser(ctx context.Context, token string) (*store.Session, *core.User, error) {
	if err := s.failing("SessionAndUser"); err != nil {
		return nil, nil, err
	}
	return s.Store.SessionAndUser(ctx, token)
}

// DeleteSession implements [store.SessionStore].
func (s *Failing) DeleteSession(ctx context.Context, token string) (*store.Session, error) {
	if err := s.failing("DeleteSession"); err != nil {
		return nil, err
	}
	return s.Store.DeleteSession(ctx, token)
}

// Record implements [store.RecordStore].
func (s *Failing) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	if err := s.failing("Record " + kind); err != nil {
		return nil, err
	}
	return s.Store.Record(ctx, kind, key)
}

// CreateRecord implements [store.RecordStore].
func (s *Failing) CreateRecord(ctx context.Context, r *store.Record) error {
	if err := s.failing("CreateRecord " + r.Kind); err != nil {
		return err
	}
	return s.Store.CreateRecord(ctx, r)
}

// UpdateRecord implements [store.RecordStore].
func (s *Failing) UpdateRecord(ctx context.Context, r *store.Record) error {
	if err := s.failing("UpdateRecord " + r.Kind); err != nil {
		return err
	}
	return s.Store.UpdateRecord(ctx, r)
}

// DeleteRecord implements [store.RecordStore].
func (s *Failing) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	if err := s.failing("DeleteRecord " + kind); err != nil {
		return nil, err
	}
	return s.Store.DeleteRecord(ctx, kind, key)
}

// UserRecords implements [store.RecordStore].
func (s *Failing) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	if err := s.failing("UserRecords " + kind); err != nil {
		return nil, err
	}
	return s.Store.UserRecords(ctx, userID, kind)
}
