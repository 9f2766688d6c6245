package storetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

var errTest = errors.New("the test says no")

// transactions are the cases of transactions.
type transactions struct{ *kit }

func (k transactions) commit() {
	err := k.store.(store.Transactor).InTransaction(k.Context(), func(ctx context.Context, tx core.Store) error {
		u, err := tx.CreateUser(ctx, &core.User{ID: uuid("u1"), Email: "ada@example.com"})
		if err != nil {
			return err
		}
		return tx.LinkAccount(ctx, k.account(u, "p", "1"))
	})
	k.must(err)
	_, err = k.store.UserByAccount(k.Context(), "p", "1")
	k.must(err)
}

func (k transactions) rollback() {
	err := k.store.(store.Transactor).InTransaction(k.Context(), func(ctx context.Context, tx core.Store) error {
		if _, err := tx.CreateUser(ctx, &core.User{ID: uuid("u1"), Email: "ada@example.com"}); err != nil {
			return err
		}
		return errTest
	})
	k.want(err, errTest)
	_, err = k.store.UserByEmail(k.Context(), "ada@example.com")
	k.want(err, core.ErrNotFound)
	k.user("u1", "ada@example.com")
}

func (k transactions) panics() {
	func() {
		defer func() { _ = recover() }()
		_ = k.store.(store.Transactor).InTransaction(k.Context(), func(ctx context.Context, tx core.Store) error {
			_, _ = tx.CreateUser(ctx, &core.User{ID: uuid("u1"), Email: "ada@example.com"})
			panic("the test panics")
		})
	}()
	_, err := k.store.UserByEmail(k.Context(), "ada@example.com")
	k.want(err, core.ErrNotFound)
	k.user("u1", "ada@example.com")
}

// signIn writes the rows of a first sign-in.
func (k transactions) signIn(ctx context.Context, tx core.Store, name string) error {
	u, err := tx.CreateUser(ctx, &core.User{ID: uuid(name), Email: "ada@example.com"})
	if err != nil {
		return err
	}
	if err := tx.LinkAccount(ctx, k.account(u, "p", name)); err != nil {
		return err
	}
	if s, ok := tx.(store.SessionStore); ok {
		return s.CreateSession(ctx, &store.Session{
			Token: core.Secret("session of " + name), UserID: u.ID, Expires: base,
		})
	}
	return nil
}

// nothingOf checks that a sign-in left no rows.
func (k transactions) nothingOf(name string) {
	k.Helper()
	_, err := k.store.User(k.Context(), uuid(name))
	k.want(err, core.ErrNotFound)
	_, err = k.store.UserByAccount(k.Context(), "p", name)
	k.want(err, core.ErrNotFound)
	if is[store.SessionStore](k.store) {
		// Not SessionAndUser, which would not return a session without a user.
		_, err = k.sessions().DeleteSession(k.Context(), "session of "+name)
		k.want(err, core.ErrNotFound)
	}
}

func (k transactions) rollbackAll() {
	u := k.user("u1", "eve@example.com")
	k.must(k.store.LinkAccount(k.Context(), k.account(u, "p", "linked before")))
	if is[store.SessionStore](k.store) {
		k.session(u, "s1", base)
	}
	if is[store.VerificationTokenStore](k.store) {
		k.token("eve@example.com", "t1")
	}
	err := k.store.(store.Transactor).InTransaction(k.Context(), func(ctx context.Context, tx core.Store) error {
		if err := k.signIn(ctx, tx, "new"); err != nil {
			return err
		}
		changed := *u
		changed.Name, changed.Email = "changed", "eve@example.org"
		if _, err := tx.UpdateUser(ctx, &changed); err != nil {
			return err
		}
		if s, ok := tx.(store.SessionStore); ok {
			if _, err := s.DeleteSession(ctx, "s1"); err != nil {
				return err
			}
		}
		if s, ok := tx.(store.VerificationTokenStore); ok {
			if _, err := s.UseVerificationToken(ctx, "eve@example.com", "t1"); err != nil {
				return err
			}
		}
		if a, ok := tx.(store.AccountStore); ok {
			if err := a.UnlinkAccount(ctx, "p", "linked before"); err != nil {
				return err
			}
		}
		if d, ok := tx.(store.UserDeleter); ok {
			if err := d.DeleteUser(ctx, u.ID); err != nil {
				return err
			}
		}
		return errTest
	})
	k.want(err, errTest)
	k.nothingOf("new")
	got, err := k.store.UserByAccount(k.Context(), "p", "linked before")
	k.must(err)
	k.same(got, u)
	k.absent("eve@example.org")
	if is[store.SessionStore](k.store) {
		_, _, err = k.sessions().SessionAndUser(k.Context(), "s1")
		k.must(err)
	}
	if is[store.VerificationTokenStore](k.store) {
		_, err = k.tokens().UseVerificationToken(k.Context(), "eve@example.com", "t1")
		k.must(err)
	}
}

func (k transactions) atOnce() {
	const n = 8
	won := k.race(n, core.ErrConflict, func(i int) error {
		return k.store.(store.Transactor).InTransaction(k.Context(), func(ctx context.Context, tx core.Store) error {
			return k.signIn(ctx, tx, fmt.Sprint(i))
		})
	})
	if won != 1 {
		k.Fatalf("%d sign-ins made a user of one address", won)
	}
	winner, err := k.store.UserByEmail(k.Context(), "ada@example.com")
	k.must(err)
	for i := range n {
		name := fmt.Sprint(i)
		owner, err := k.store.UserByAccount(k.Context(), "p", name)
		if err == nil && owner.ID == winner.ID {
			continue
		}
		k.nothingOf(name)
	}
}

func (k transactions) cancelled() {
	ctx, cancel := context.WithCancel(k.Context())
	defer cancel()
	err := k.store.(store.Transactor).InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
		err := k.signIn(ctx, tx, "u1")
		cancel()
		return err
	})
	if err == nil {
		k.Error("a transaction whose context had ended was committed")
	}
	k.nothingOf("u1")
	k.must(k.signIn(k.Context(), k.store, "u1"))
}
