package core_test

import (
	"context"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// brokenStore is a store that fails, panics or returns nothing.
type brokenStore struct{ fail func() error }

func (s brokenStore) CreateUser(context.Context, *core.User) (*core.User, error) {
	return nil, s.fail()
}

func (s brokenStore) User(context.Context, string) (*core.User, error) { return nil, s.fail() }

func (s brokenStore) UserByEmail(context.Context, string) (*core.User, error) { return nil, s.fail() }

func (s brokenStore) UserByAccount(_ context.Context, _, _ string) (*core.User, error) {
	return nil, s.fail()
}

func (s brokenStore) UpdateUser(context.Context, *core.User) (*core.User, error) {
	return nil, s.fail()
}

func (s brokenStore) LinkAccount(context.Context, *core.Account) error { return s.fail() }

func (s brokenStore) CreateSession(context.Context, *store.Session) error { return s.fail() }

func (s brokenStore) SessionAndUser(context.Context, string) (*store.Session, *core.User, error) {
	return nil, nil, s.fail()
}

func (s brokenStore) UpdateSession(context.Context, string, time.Time) error { return s.fail() }

func (s brokenStore) DeleteSession(context.Context, string) (*store.Session, error) {
	return nil, s.fail()
}
